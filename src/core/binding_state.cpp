// States as Python sees them: dicts of arrays.
#include "binding_state.hpp"

namespace dfop {

nb::object to_array(std::vector<double> values, std::vector<std::size_t> shape) {
    auto* owned = new std::vector<double>(std::move(values));
    nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<double>*>(p); });
    return nb::cast(
        nb::ndarray<nb::numpy, double>(owned->data(), shape.size(), shape.data(), owner));
}

namespace {

std::string shown(const std::vector<std::int64_t>& shape) {
    std::string text = "(";
    for (const std::int64_t size : shape) text += std::to_string(size) + ", ";
    return text + ")";
}

std::vector<std::int64_t> given_shape(const AnyArray& array) {
    std::vector<std::int64_t> shape;
    for (std::size_t i = 0; i < array.ndim(); ++i)
        shape.push_back(static_cast<std::int64_t>(array.shape(i)));
    return shape;
}

bool fits(const std::vector<std::int64_t>& given, const std::vector<std::int64_t>& wanted) {
    if (given.size() != wanted.size()) return false;
    for (std::size_t i = 0; i < given.size(); ++i)
        if (wanted[i] >= 0 && given[i] != wanted[i]) return false;
    return true;
}

}  // namespace

std::vector<std::int64_t> shown_shape(const Field& field) {
    std::vector<std::int64_t> shape;
    for (const std::size_t size : field.shape)
        shape.push_back(size == kFree ? -1 : static_cast<std::int64_t>(size));
    return shape;
}

Values StateCheck::values(const Field& field) {
    const nb::str name(field.name.c_str());
    hold(state_.contains(name), field.name + ": this field is missing");
    const nb::object given = state_[name];
    AnyArray array;
    const bool numbers = nb::try_cast(given, array) && array.dtype() == nb::dtype<double>();
    hold(numbers, field.name + ": no array of float64");
    const auto wanted = shown_shape(field), found = given_shape(array);
    if (!fits(found, wanted))
        throw BadState(field.name + ": the shape is " + shown(found) + ", not " + shown(wanted));
    const auto values = nb::cast<Values>(given);
    for (std::size_t i = 0; i < values.size(); ++i) {
        const double value = values.data()[i];
        if (!(value >= field.low && value <= field.high))  // no text is made for those that fit
            throw BadState(field.name + ": " + std::to_string(value) + " is out of range");
    }
    names_.insert(field.name);
    return values;
}

void StateCheck::all_known() const {
    if (names_.size() == state_.size()) return;
    for (const auto item : state_) {
        const auto name = nb::cast<std::string>(nb::str(item.first));
        hold(names_.contains(name), name + ": there is no such field");
    }
}

}  // namespace dfop
