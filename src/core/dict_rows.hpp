// Rows that come as dicts: names become columns in the order in which they first appear.
#pragma once

#include <Python.h>

#include <nanobind/nanobind.h>

#include <cmath>
#include <string>
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
    // Reads a row. Names not seen before are left out of the row and collected in `news`.
    const double* read(nanobind::handle row, std::vector<nanobind::object>* news) {
        if (!PyDict_Check(row.ptr()))
            throw nanobind::type_error("a row must be a dict of feature names and numbers");
        std::fill(values_.begin(), values_.end(), 0.0);
        Py_ssize_t at = 0;
        std::size_t place = 0;
        PyObject *name, *value;
        while (PyDict_Next(row.ptr(), &at, &name, &value)) {
            const double number = to_number(name, value);
            // Most streams repeat the same name objects in the same order: no look-up then.
            std::size_t column = place++;
            if (column >= names_.size() || names_[column].ptr() != name) {
                PyObject* found = PyDict_GetItemWithError(columns_.ptr(), name);
                if (!found) {
                    if (PyErr_Occurred()) throw nanobind::python_error();
                    if (news) news->push_back(nanobind::borrow(name));
                    continue;
                }
                column = PyLong_AsSize_t(found);
            }
            values_[column] = number;
        }
        return values_.data();
    }

    void add(const std::vector<nanobind::object>& news) {
        for (const auto& name : news) {
            columns_[name] = nanobind::int_(names_.size());
            names_.push_back(name);
        }
        values_.resize(names_.size());
    }

    const std::vector<nanobind::object>& names() const { return names_; }

private:
    static double to_number(PyObject* name, PyObject* value) {
        const double number = dfop::to_number(value);
        return std::fabs(number) <= kLargest ? number : fail(name, value);
    }

    static double fail(PyObject* name, PyObject* value) {
        const nanobind::object n = nanobind::repr(name), v = nanobind::repr(value);
        throw nanobind::value_error(("feature " + nanobind::cast<std::string>(n) + " is " +
                                     nanobind::cast<std::string>(v) +
                                     "; expected a finite number below 2**500 in magnitude: "
                                     "impute, encode or drop it before learning")
                                        .c_str());
    }

    nanobind::dict columns_;
    std::vector<nanobind::object> names_;
    std::vector<double> values_;
};

}  // namespace dfop
