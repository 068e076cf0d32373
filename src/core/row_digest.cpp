#include "row_digest.hpp"

#include <bit>
#include <string_view>

#include "cells.hpp"
#include "hash.hpp"

namespace dfop {
namespace {

namespace nb = nanobind;

// So that 1, "1" and a name that is no text differ.
enum Salt : std::uint64_t { kNumber = 1, kText, kMissing, kName };

// FNV-1a, begun with what kind of thing the bytes are.
std::uint64_t hash_of(std::string_view bytes, Salt salt) {
    std::uint64_t hash = 0xcbf29ce484222325u ^ salt;
    for (const char byte : bytes) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3u;
    return hash;
}

std::uint64_t hash_of_text(PyObject* text, Salt salt) {
    nb::object owner;
    return hash_of(strip_text(text, owner), salt);
}

std::uint64_t hash_of_name(PyObject* name) {
    if (PyUnicode_Check(name)) return hash_of_text(name, kText);
    const nb::object shown = nb::steal(PyObject_Repr(name));
    if (!shown.is_valid()) throw nb::python_error();
    return hash_of_text(shown.ptr(), kName);
}

// Whatever cannot be learned counts as missing: such a row is refused elsewhere.
std::uint64_t hash_of_value(PyObject* value) {
    double number = 0.0;
    switch (read_cell(value, number)) {
        case CellKind::number:
            return mix_bits(std::bit_cast<std::uint64_t>(number + 0.0) + kNumber);
        case CellKind::text: {
            nb::object owner;
            const std::string_view text = strip_text(value, owner);
            return is_gap_word(text) ? kMissing : hash_of(text, kText);
        }
        default: return kMissing;
    }
}

nb::object plain_cell(PyObject* value) {
    double number = 0.0;
    switch (read_cell(value, number)) {
        case CellKind::number: return nb::float_(number);
        case CellKind::text: {
            nb::object owner;
            const std::string_view text = strip_text(value, owner);
            return is_gap_word(text) ? nb::none() : to_python(text);
        }
        default: return nb::none();
    }
}

void check_dict(PyObject* row) {
    if (!PyDict_Check(row))
        throw nb::type_error("a row must be a dict of feature names and values");
}

}  // namespace

// Cells are added up, so that their order does not matter.
std::uint64_t digest_of_row(PyObject* row) {
    check_dict(row);
    std::uint64_t sum = 0;
    Py_ssize_t at = 0;
    PyObject *name, *value;
    while (PyDict_Next(row, &at, &name, &value)) {
        const nb::object name_kept = nb::borrow(name), value_kept = nb::borrow(value);
        sum += hash_bits(hash_of_name(name), hash_of_value(value));
    }
    return mix_bits(sum);
}

nb::dict plain_row(PyObject* row) {
    check_dict(row);
    nb::dict plain;
    Py_ssize_t at = 0;
    PyObject *name, *value;
    while (PyDict_Next(row, &at, &name, &value)) {
        const nb::object name_kept = nb::borrow(name), value_kept = nb::borrow(value);
        plain[name_kept] = plain_cell(value);
    }
    return plain;
}

}  // namespace dfop
