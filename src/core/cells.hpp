// What a Python value is as a cell: a number, a text, missing, or nothing that can be learned.
//
// Missing are None, NaN, pandas' NA, NaT, and some words (`is_gap_word`). A number is what float()
// takes that is no text, no date and no array. Text is stripped.
#pragma once

#include <Python.h>

#include <cmath>
#include <string_view>

#include "filter.hpp"
#include "numpy_arrays.hpp"

namespace dfop {

enum class CellKind : unsigned char { number, text, missing, other };

inline bool is_gap_word(std::string_view text) {
    if (text.size() > 4) return false;
    char lower[4];
    for (std::size_t i = 0; i < text.size(); ++i)
        lower[i] = text[i] >= 'A' && text[i] <= 'Z' ? static_cast<char>(text[i] + 32) : text[i];
    const std::string_view word(lower, text.size());
    return word.empty() || word == "?" || word == "na" || word == "n/a" || word == "nan" ||
           word == "null" || word == "none" || word == "<na>";
}

// Text without white space around it, as UTF-8. `owner` keeps the bytes alive.
inline std::string_view strip_text(PyObject* text, nanobind::object& owner) {
    Py_ssize_t start = 0, end = PyUnicode_GET_LENGTH(text);
    if (end > 0 && (Py_UNICODE_ISSPACE(PyUnicode_READ_CHAR(text, 0)) ||
                    Py_UNICODE_ISSPACE(PyUnicode_READ_CHAR(text, end - 1)))) {
        while (start < end && Py_UNICODE_ISSPACE(PyUnicode_READ_CHAR(text, start))) ++start;
        while (end > start && Py_UNICODE_ISSPACE(PyUnicode_READ_CHAR(text, end - 1))) --end;
        owner = nanobind::steal(PyUnicode_Substring(text, start, end));
        if (!owner.is_valid()) throw nanobind::python_error();
        text = owner.ptr();
    }
    Py_ssize_t size;
    if (const char* bytes = PyUnicode_AsUTF8AndSize(text, &size))
        return {bytes, static_cast<std::size_t>(size)};
    PyErr_Clear();  // no valid Unicode
    owner = nanobind::steal(PyUnicode_AsEncodedString(text, "utf-8", "surrogatepass"));
    if (!owner.is_valid()) throw nanobind::python_error();
    return {PyBytes_AS_STRING(owner.ptr()),
            static_cast<std::size_t>(PyBytes_GET_SIZE(owner.ptr()))};
}

inline nanobind::object to_python(std::string_view utf8) {
    PyObject* text =
        PyUnicode_DecodeUTF8(utf8.data(), static_cast<Py_ssize_t>(utf8.size()), "surrogatepass");
    if (!text) throw nanobind::python_error();
    return nanobind::steal(text);
}

// Whether a text would pass for a number: "12", "1e5", "inf". Python's own underscores, as in
// "2024_01", are those of names.
inline bool reads_as_number(std::string_view stripped) {
    if (stripped.empty() || stripped.find('_') != std::string_view::npos) return false;
    const char first = stripped[0];
    const bool letter = (first >= 'a' && first <= 'z') || (first >= 'A' && first <= 'Z');
    if (letter && (first | 32) != 'i' && (first | 32) != 'n') return false;
    const nanobind::object number = nanobind::steal(PyFloat_FromString(to_python(stripped).ptr()));
    if (number.is_valid()) return true;
    if (!PyErr_ExceptionMatches(PyExc_ValueError)) throw nanobind::python_error();
    PyErr_Clear();
    return false;
}

// The last error was one by which a value says that it is no number: clears it.
inline bool is_no_number_error() {
    const bool expected =
        PyErr_ExceptionMatches(PyExc_TypeError) || PyErr_ExceptionMatches(PyExc_ValueError);
    if (!expected) throw nanobind::python_error();
    PyErr_Clear();
    return true;
}

// NaT is unlike itself, as NaN is; pandas' NA does not say whether it is.
inline bool is_missing(PyObject* value) {
    const nanobind::object unlike = nanobind::steal(PyObject_RichCompare(value, value, Py_NE));
    const int truth = unlike.is_valid() ? PyObject_IsTrue(unlike.ptr()) : -1;
    if (truth >= 0) return truth == 1;
    is_no_number_error();
    const std::string_view name = Py_TYPE(value)->tp_name;
    return name.substr(name.rfind('.') + 1) == "NAType";
}

inline CellKind read_other_number(PyObject* value, double& number) {
    number = PyFloat_AsDouble(value);
    if (number == -1.0 && PyErr_Occurred()) {
        if (PyErr_ExceptionMatches(PyExc_OverflowError)) {
            PyErr_Clear();
            number = HUGE_VAL;
            return CellKind::number;
        }
        is_no_number_error();
        return is_missing(value) ? CellKind::missing : CellKind::other;
    }
    return std::isnan(number) ? CellKind::missing : CellKind::number;
}

// What the value is; a number may still be too large.
inline CellKind read_cell(PyObject* value, double& number) {
    if (PyFloat_Check(value)) {
        number = PyFloat_AS_DOUBLE(value);
        return std::isnan(number) ? CellKind::missing : CellKind::number;
    }
    if (PyUnicode_Check(value)) return CellKind::text;
    if (value == Py_None) return CellKind::missing;
    if (PyBytes_Check(value) || PyComplex_Check(value)) return CellKind::other;
    if (PyArray_CheckScalar(value) &&
        (PyArray_IsScalar(value, Datetime) || PyArray_IsScalar(value, Timedelta)))
        return is_missing(value) ? CellKind::missing : CellKind::other;
    if (PyArray_IsScalar(value, ComplexFloating)) return CellKind::other;
    if (PyArray_Check(value) && PyArray_NDIM(reinterpret_cast<PyArrayObject*>(value)) > 0)
        return CellKind::other;
    return read_other_number(value, number);
}

inline bool is_usable(double number) { return std::fabs(number) <= kLargest; }

}  // namespace dfop
