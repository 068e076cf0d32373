// The state of a part by name. Every part lists its fields once,
//     template <class Self, class Visitor>
//     static void fields(sizes..., Self* self, Visitor&& visit);
// each with its name, its shape and the lowest and highest value it may have; what shows, checks
// and takes over a state loops over that list. Without a `self` (nullptr) it tells the fields of a part
// that does not exist yet. What must hold between fields is checked by the part's `settle`, which
// also works out what follows from them.
//
// A visitor has two functions: array(field, at), where at(i) is value i in row-major order, and
// rows(field, values) for a vector of as many rows as there are, whose shape begins with kFree.
#pragma once

#include <cstddef>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace dfop {

struct Field {
    std::string name;
    std::vector<std::size_t> shape;  // none: a single number
    double low, high;
};

inline constexpr std::size_t kFree = std::numeric_limits<std::size_t>::max();
// Bounds that several parts share.
inline constexpr double kMostRows = 0x1p53, kLargestSquare = 1e300;
inline constexpr double kAbove0 = std::numeric_limits<double>::denorm_min();

// A state that no part of this kind can have had.
struct BadState : std::invalid_argument {
    using std::invalid_argument::invalid_argument;
};

inline void hold(bool condition, const std::string& message) {
    if (!condition) throw BadState(message);
}

// The same visitor, for a part of the whole: its fields are named "part/field".
template <class Visitor>
struct PartVisitor {
    Visitor& whole;
    std::string prefix;

    template <class At>
    void array(Field field, At at) {
        field.name = prefix + field.name;
        whole.array(std::move(field), at);
    }
    template <class Values>
    void rows(Field field, Values* values) {
        field.name = prefix + field.name;
        whole.rows(std::move(field), values);
    }
};

template <class Visitor>
PartVisitor<Visitor> part_of(Visitor& whole, const std::string& name) {
    return {whole, name + "/"};
}

// Lets a part say which of its own parts a relation is about.
template <class Settle>
void settle_part(const std::string& name, const Settle& settle) {
    try {
        settle();
    } catch (const BadState& error) {
        throw BadState(name + "/" + error.what());
    }
}

// How a row of numbers of a triangle or a product may be counted without overflow.
inline constexpr std::size_t kMostNumbers = std::size_t{1} << 31;

inline std::size_t bounded_size(std::size_t size) {
    if (size > kMostNumbers) throw std::invalid_argument("a model of that size cannot be");
    return size;
}

}  // namespace dfop
