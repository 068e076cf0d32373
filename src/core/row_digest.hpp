// A number for what a row says, by which it is known again: the same for a copy of the row, with its
// names in any order, in any process and on any machine.
#pragma once

#include <Python.h>

#include <cstdint>

namespace dfop {

std::uint64_t digest_of_row(PyObject* row);

}  // namespace dfop
