// States of parts as Python sees them: dicts of arrays by name. Everything loops over the one list
// of fields that a part has (fields.hpp).
#pragma once

#include <nanobind/stl/string.h>

#include <set>

#include "binding.hpp"
#include "fields.hpp"

namespace dfop {

using AnyArray = nb::ndarray<nb::ro, nb::device::cpu>;
using Values = nb::ndarray<const double, nb::c_contig, nb::device::cpu>;

std::vector<std::int64_t> shown_shape(const Field& field);

// Tells names and shapes, -1 for as many as there are.
struct ShapeList {
    nb::dict shapes;

    template <class At>
    void array(const Field& field, At) {
        nb::list shape;
        for (const std::int64_t size : shown_shape(field)) shape.append(size);
        shapes[field.name.c_str()] = nb::tuple(shape);
    }
    template <class Rows>
    void rows(const Field& field, Rows*) {
        array(field, 0);
    }
};

// Copies a state out.
struct StateReader {
    nb::dict state;

    template <class At>
    void array(const Field& field, At at) {
        std::size_t size = 1;
        for (const std::size_t part : field.shape) size *= part;
        std::vector<double> values(size);
        for (std::size_t i = 0; i < size; ++i) values[i] = at(i);
        state[field.name.c_str()] = to_array(std::move(values), field.shape);
    }
    template <class Rows>
    void rows(const Field& field, Rows* values) {
        std::size_t width = 1;
        for (std::size_t i = 1; i < field.shape.size(); ++i) width *= field.shape[i];
        std::vector<std::size_t> shape = field.shape;
        shape[0] = width > 0 ? values->size() / width : 0;
        state[field.name.c_str()] =
            to_array(std::vector<double>(values->begin(), values->end()), shape);
    }
};

// Checks names, types, shapes and values, and needs no part to do so.
class StateCheck {
public:
    explicit StateCheck(const nb::dict& state) : state_(state) {}

    template <class At>
    void array(const Field& field, At) {
        values(field);
    }
    template <class Rows>
    void rows(const Field& field, Rows*) {
        values(field);
    }
    Values values(const Field& field);
    void all_known() const;

private:
    const nb::dict& state_;
    std::set<std::string> names_;
};

// Copies a checked state in.
struct StateWriter {
    StateCheck check;

    template <class At>
    void array(const Field& field, At at) {
        const Values values = check.values(field);
        for (std::size_t i = 0; i < values.size(); ++i) at(i) = values.data()[i];
    }
    template <class Rows>
    void rows(const Field& field, Rows* part) {
        const Values values = check.values(field);
        part->assign(values.data(), values.data() + values.size());
    }
};

// Takes over a state, all of it or nothing: `list(part, visitor)` visits the fields of a part.
template <class Part, class List>
void take_over(Part& part, const nb::dict& state, const List& list) {
    Part next = part;
    StateWriter writer{StateCheck(state)};
    list(&next, writer);
    writer.check.all_known();
    next.settle();
    part = std::move(next);
}

template <class List>
void check_state(const nb::dict& state, const List& list) {
    StateCheck check(state);
    list(check);
    check.all_known();
}

}  // namespace dfop
