// The coder as plain data, and back, all checked: what is not as it should be is a ValueError.
#include <nanobind/stl/string.h>

#include <algorithm>

#include "binding.hpp"
#include "cells.hpp"
#include "coder.hpp"
#include "numpy_arrays.hpp"

namespace dfop {

void restore_coder(Coder& coder, nb::handle described, nb::handle sums, nb::handle counts,
                   nb::handle lags, nb::handle shared);
nb::list describe_columns(const Coder& coder);
nb::list describe_buckets(const Buckets& buckets);
nb::list label_columns(const Coder& coder, nb::handle names);

namespace {

constexpr double kLargestSum = 1e300;

nb::object number_or_none(std::size_t place) {
    return place == kNone ? nb::none() : nb::object(nb::int_(place));
}

nb::object part(nb::handle parts, const char* name) {
    require(PyDict_Check(parts.ptr()), "a column that is not described by a dict");
    PyObject* found = PyDict_GetItemString(parts.ptr(), name);
    require(found, "a column that is not fully described");
    return nb::borrow(found);
}

std::size_t whole(nb::handle value, const char* message) {
    require(PyLong_CheckExact(value.ptr()), message);
    const std::size_t number = PyLong_AsSize_t(value.ptr());
    if (PyErr_Occurred()) {
        PyErr_Clear();
        throw nb::value_error(message);
    }
    require(number < (std::size_t{1} << 40), message);
    return number;
}

std::size_t place_in(nb::handle value) { return whole(value, "places that are no numbers"); }

// Calls `work` with both parts of each pair.
template <class Work>
void for_pairs(nb::handle pairs, const Work& work) {
    require(PyList_Check(pairs.ptr()) || PyTuple_Check(pairs.ptr()), "pairs that are no list");
    for (const nb::handle pair : pairs) {
        require((PyList_Check(pair.ptr()) || PyTuple_Check(pair.ptr())) && nb::len(pair) == 2,
                "pairs of a column");
        work(nb::handle(nb::object(pair[0])), nb::handle(nb::object(pair[1])));
    }
}

Buckets read_buckets(nb::handle pairs) {
    Buckets out;
    for_pairs(pairs, [&](nb::handle bucket, nb::handle place) {
        const std::size_t b = whole(bucket, "buckets of a column");
        require(b < kBuckets && out[b] == kNone, "buckets of a column");
        out.set(b, place_in(place));
    });
    return out;
}

Kind read_kind(nb::handle kind) {
    if (kind.is_none()) return Kind::none;
    const std::string name = nb::isinstance<nb::str>(kind) ? nb::cast<std::string>(kind) : "";
    require(name == "number" || name == "text", "a column of an unknown kind");
    return name == "number" ? Kind::number : Kind::text;
}

Column read_column(nb::handle parts, std::size_t most_texts) {
    Column column{
        place_in(part(parts, "place")), read_kind(part(parts, "kind")), kNone, {}, {}, {}};
    if (const nb::object gap = part(parts, "gap"); !gap.is_none()) column.gap = place_in(gap);
    bool has_own = false;
    for_pairs(part(parts, "texts"), [&](nb::handle text, nb::handle place) {
        require(PyUnicode_CheckExact(text.ptr()), "texts of a column");
        nb::object owner;
        Py_ssize_t size = 0;
        const char* bytes = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
        if (!bytes) {
            PyErr_Clear();  // no valid Unicode
            owner = nb::steal(PyUnicode_AsEncodedString(text.ptr(), "utf-8", "surrogatepass"));
            if (!owner.is_valid()) throw nb::python_error();
            bytes = PyBytes_AS_STRING(owner.ptr());
            size = PyBytes_GET_SIZE(owner.ptr());
        }
        column.texts.emplace_back(bytes, static_cast<std::size_t>(size));
        require(column.places.emplace(column.texts.back(), place_in(place)).second,
                "a text that comes twice");
        has_own = has_own || column.places[column.texts.back()] == column.place;
    });
    column.buckets = read_buckets(part(parts, "buckets"));
    require(column.texts.empty() == (column.kind != Kind::text), "a column with texts of no text");
    require(column.texts.size() <= most_texts, "too many texts of a column");
    require(column.buckets.empty() || column.texts.size() == most_texts,
            "buckets before they are needed");
    require(column.texts.empty() || has_own, "a column of text that has a place of its own");
    return column;
}

void add_places(const Column& column, std::vector<std::size_t>& places) {
    if (column.texts.empty()) places.push_back(column.place);
    for (const auto& [text, place] : column.places) places.push_back(place);
    for (const auto& [bucket, place] : column.buckets.in_order()) places.push_back(place);
    if (column.gap != kNone) places.push_back(column.gap);
}

std::vector<double> read_sums(nb::handle array, std::size_t width, double low,
                              const char* message) {
    const std::span<const double> values = as_doubles(array, "sums must be float64 arrays");
    require(values.size() == width, "sums of the wrong length");
    for (const double value : values) require(value >= low && value <= kLargestSum, message);
    return {values.begin(), values.end()};
}

}  // namespace

nb::list describe_buckets(const Buckets& buckets) {
    nb::list out;
    for (const auto& [bucket, place] : buckets.in_order())
        out.append(nb::make_tuple(bucket, place));
    return out;
}

nb::list describe_columns(const Coder& coder) {
    nb::list out;
    for (const Column& column : coder.columns()) {
        nb::list texts;
        for (const std::string& text : column.texts)
            texts.append(nb::make_tuple(to_python(text), column.places.find(text)->second));
        nb::dict parts;
        parts["kind"] = column.kind == Kind::none     ? nb::none()
                        : column.kind == Kind::number ? nb::object(nb::str("number"))
                                                      : nb::object(nb::str("text"));
        parts["place"] = column.place;
        parts["gap"] = number_or_none(column.gap);
        parts["texts"] = texts;
        parts["buckets"] = describe_buckets(column.buckets);
        out.append(parts);
    }
    return out;
}

nb::list label_columns(const Coder& coder, nb::handle names) {
    std::vector<nb::object> labels(coder.width(), nb::none());
    std::size_t id = 0;
    const auto joined = [](nb::handle name, const std::string& more) {
        return nb::object(nb::str(name) + to_python(more));
    };
    for (const nb::handle name : nb::iter(names)) {
        require(id < coder.columns().size(), "more names than columns");
        const Column& column = coder.columns()[id++];
        labels[column.place] = nb::borrow(name);
        for (const auto& [text, place] : column.places)
            labels[place] = joined(name, std::string("=").append(text));
        for (const auto& [bucket, place] : column.buckets.in_order())
            labels[place] = joined(name, std::string("#").append(std::to_string(bucket)));
        if (column.gap != kNone) labels[column.gap] = joined(name, " is missing");
    }
    require(id == coder.columns().size(), "fewer names than columns");
    for (const auto& [bucket, place] : coder.shared().in_order())
        labels[place] = nb::str(std::string("other names#").append(std::to_string(bucket)).c_str());
    nb::list out;
    for (const nb::object& label : labels) out.append(label);
    return out;
}

void restore_coder(Coder& coder, nb::handle described, nb::handle sums, nb::handle counts,
                   nb::handle lags, nb::handle shared) {
    std::vector<Column> columns;
    std::vector<std::size_t> places, lag_places;
    for (const nb::handle parts : nb::iter(described)) {
        columns.push_back(read_column(parts, coder.most_texts()));
        add_places(columns.back(), places);
    }
    for (const nb::handle lag : nb::iter(lags)) lag_places.push_back(place_in(lag));
    places.insert(places.end(), lag_places.begin(), lag_places.end());
    Buckets buckets = read_buckets(shared);
    for (const auto& [bucket, place] : buckets.in_order()) places.push_back(place);
    std::sort(places.begin(), places.end());
    for (std::size_t i = 0; i < places.size(); ++i)
        require(places[i] == i, "coded columns that are not numbered one by one");
    std::vector<double> s =
        read_sums(sums, places.size(), -kLargestSum, "running means out of range");
    std::vector<double> c =
        read_sums(counts, places.size(), 0.0, "counts of running means out of range");
    coder.restore(std::move(columns), std::move(lag_places), std::move(buckets), std::move(s),
                  std::move(c));
}

}  // namespace dfop
