// NumPy arrays, looked into directly: nanobind's general check costs more than a row.
// One of the files that include this defines DFOP_IMPORT_NUMPY before and calls `import_numpy`.
#pragma once

#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#define PY_ARRAY_UNIQUE_SYMBOL dfop_numpy_of_rows
#ifndef DFOP_IMPORT_NUMPY
#define NO_IMPORT_ARRAY
#endif
#include <nanobind/nanobind.h>
#include <numpy/arrayobject.h>

#include <algorithm>
#include <cstdint>
#include <span>

namespace dfop {

#ifdef DFOP_IMPORT_NUMPY
inline void import_numpy() {
    if (_import_array() < 0) throw nanobind::python_error();
}
#endif

// An array of that type and number of dimensions, C-ordered; a TypeError otherwise.
inline PyArrayObject* as_array(nanobind::handle object, int type, int dimensions,
                               const char* message) {
    auto* array = reinterpret_cast<PyArrayObject*>(object.ptr());
    if (!PyArray_Check(object.ptr()) || PyArray_TYPE(array) != type ||
        PyArray_NDIM(array) != dimensions || !PyArray_ISCARRAY_RO(array))
        throw nanobind::type_error(message);
    return array;
}

inline std::span<const double> as_doubles(nanobind::handle object, const char* message) {
    auto* array = as_array(object, NPY_DOUBLE, 1, message);
    return {static_cast<const double*>(PyArray_DATA(array)),
            static_cast<std::size_t>(PyArray_DIM(array, 0))};
}

inline nanobind::object new_array(int dimensions, const npy_intp* shape) {
    PyObject* array = PyArray_SimpleNew(dimensions, const_cast<npy_intp*>(shape), NPY_DOUBLE);
    if (!array) throw nanobind::python_error();
    return nanobind::steal(array);
}

inline double* data_of(const nanobind::object& array) {
    return static_cast<double*>(PyArray_DATA(reinterpret_cast<PyArrayObject*>(array.ptr())));
}

inline nanobind::object copy_to_array(std::span<const double> values) {
    const auto size = static_cast<npy_intp>(values.size());
    nanobind::object array = new_array(1, &size);
    std::copy(values.begin(), values.end(), data_of(array));
    return array;
}

}  // namespace dfop
