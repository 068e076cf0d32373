// Refuses values that a field cannot have.
#pragma once

#include <cstddef>

#include "fields.hpp"

namespace dfop {

struct RangeCheck {
    template <class At>
    void array(const Field& field, At at) const {
        std::size_t size = 1;
        for (const std::size_t part : field.shape) size *= part;
        for (std::size_t i = 0; i < size; ++i) one(field, at(i));
    }
    template <class Values>
    void rows(const Field& field, const Values* values) const {
        for (const double value : *values) one(field, value);
    }

private:
    static void one(const Field& field, double value) {
        hold(value >= field.low && value <= field.high, field.name + ": out of range");
    }
};

}  // namespace dfop
