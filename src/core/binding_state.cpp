// States as Python sees them: dicts of arrays.
#include "binding.hpp"

namespace dfop {
namespace {

std::size_t dimension(const Filter& f) { return f.features() + f.intercept(); }

}  // namespace

nb::object to_array(std::vector<double> values, std::vector<std::size_t> shape) {
    auto* owned = new std::vector<double>(std::move(values));
    nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<double>*>(p); });
    return nb::cast(nb::ndarray<nb::numpy, double>(owned->data(), shape.size(), shape.data(), owner));
}

std::vector<double> from_array(nb::handle array, std::size_t size) {
    const auto a = nb::cast<nb::ndarray<const double, nb::c_contig, nb::device::cpu>>(array);
    require(a.size() == size, "the state does not fit");
    return std::vector<double>(a.data(), a.data() + size);
}

nb::dict filter_state(const Filter& filter) {
    Snapshot s = filter.snapshot();
    const std::size_t d = dimension(filter);
    nb::dict out;
    out["upper"] = to_array(std::move(s.upper), {d * (d - (d > 0)) / 2});
    out["D"] = to_array(std::move(s.D), {d});
    out["limit"] = to_array(std::move(s.limit), {d});
    out["scale"] = to_array(std::move(s.scale), {d});
    out["weights"] = to_array(std::move(s.weights), {filter.outputs(), d});
    out["unseen_variance"] = nb::float_(s.unseen_variance);
    out["faded"] = nb::float_(s.faded);
    return out;
}

void restore_filter(Filter& filter, const nb::dict& state) {
    const std::size_t d = dimension(filter);
    Snapshot s;
    s.upper = from_array(state["upper"], d * (d - (d > 0)) / 2);
    s.D = from_array(state["D"], d);
    s.limit = from_array(state["limit"], d);
    s.scale = from_array(state["scale"], d);
    s.weights = from_array(state["weights"], filter.outputs() * d);
    s.unseen_variance = nb::cast<double>(state["unseen_variance"]);
    s.faded = nb::cast<double>(state["faded"]);
    filter.restore(s);
}

}  // namespace dfop
