// A number for what a row says, by which it is known again: the same for a copy of the row, with its
// names in any order, in any process and on any machine.
#pragma once

#include <Python.h>
#include <nanobind/nanobind.h>

#include <cstdint>

namespace dfop {

std::uint64_t digest_of_row(PyObject* row);

// A copy of the row whose cells are what they are read as: a float, a text, or None. It has the same
// digest, and is coded alike.
nanobind::dict plain_row(PyObject* row);

}  // namespace dfop
