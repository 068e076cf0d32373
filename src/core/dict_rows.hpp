// Rows that come as dicts of names and numbers.
#pragma once

#include <Python.h>

#include <nanobind/nanobind.h>

#include <cmath>
#include <vector>

#include "filter.hpp"

namespace dfop {

// The number a Python object is, NaN where it is none; text is none, even "1.5".
inline double to_number(PyObject* value) {
    if (PyFloat_CheckExact(value)) return PyFloat_AS_DOUBLE(value);
    if (!PyUnicode_Check(value) && !PyBytes_Check(value)) {
        const double number = PyFloat_AsDouble(value);
        if (!(number == -1.0 && PyErr_Occurred())) return number;
        PyErr_Clear();
    }
    return std::nan("");
}

class DictRows {
public:
    // `places` is the column of each name; whoever owns it may add names.
    explicit DictRows(nanobind::dict places) : places_(std::move(places)) {}

    // The row as numbers, 0 where it has no value; nullptr if anything in it is not a usable
    // number under a known name.
    const double* read(nanobind::handle row, std::size_t width) {
        if (!PyDict_Check(row.ptr()))
            throw nanobind::type_error("a row must be a dict of feature names and values");
        clear(width);
        Py_ssize_t at = 0;
        std::size_t place = 0;
        PyObject *name, *value;
        while (PyDict_Next(row.ptr(), &at, &name, &value)) {
            const double number = to_number(value);
            if (!(std::fabs(number) <= kLargest)) return nullptr;
            // Most streams repeat the same name objects in the same order: no look-up then.
            std::size_t column = place++;
            if (column >= width || names_[column].ptr() != name) {
                PyObject* found = PyDict_GetItemWithError(places_.ptr(), name);
                if (!found) {
                    if (PyErr_Occurred()) throw nanobind::python_error();
                    return nullptr;
                }
                column = PyLong_AsSize_t(found);
                if (column >= width) return nullptr;
                names_[column] = nanobind::borrow(name);
            }
            set(column, number);
        }
        return values_.data();
    }

    void clear(std::size_t width) {
        names_.resize(width);
        values_.assign(width, 0.0);
        columns_.clear();
    }

    void set(std::size_t column, double value) {
        values_[column] = value;
        columns_.push_back(column);
    }

    const double* values() const { return values_.data(); }
    // Which columns the row has values in.
    const std::vector<std::size_t>& columns() const { return columns_; }

private:
    nanobind::dict places_;
    std::vector<nanobind::object> names_;  // by column, those met so far
    std::vector<double> values_;
    std::vector<std::size_t> columns_;
};

}  // namespace dfop
