// The coding of one row that is a dict of names and values. A feature that the row does not have
// counts as 0. Everything about the row is checked before anything changes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cells.hpp"
#include "coder.hpp"

namespace dfop {

namespace nb = nanobind;

class DictCoder {
public:
    // `names` gives the column of each name. Names beyond `most_names` of them have no column of
    // their own: they share coded columns by their hash.
    DictCoder(Coder& coder, nb::dict names, std::size_t most_names)
        : coder_(coder), names_(std::move(names)), most_names_(most_names) {}

    // The coded row, coder.width() numbers that stay until the next call. If `learn`, takes over
    // what the row shows.
    const double* code(PyObject* row, bool learn);

    // The row that was coded last.
    const double* last() const { return values_.data(); }

    // Takes back what the last row opened, if the coder still can.
    void rollback();

    // Values of the coder's lags, for the rows to come.
    std::vector<double> lags;
    // Whether a name has come that has no column of its own.
    bool shares_names() const { return shares_names_ || !coder_.shared().empty(); }

private:
    // A name met at some position of a row. Most streams repeat the same name objects in the same
    // order: no look-up then.
    struct Slot {
        nb::object name;
        std::size_t column = kNone;
        std::size_t place = kNone;  // of a column that is known to be of numbers
    };
    struct Cell {
        nb::object name, value, bytes;
        CellKind kind;
        double number;
        std::string_view text;
        std::size_t column;  // kNone: the name has none
        std::size_t bucket;  // of a name that shares columns; kNone: it does not
        std::size_t place;   // kNone: nothing to write
    };
    struct Number {
        std::size_t place;
        double value;
    };

    void start_row(PyObject* row);
    std::size_t read_known(PyObject* row, bool& in_line);
    bool read_known_cell(PyObject* name, PyObject* value, std::size_t position);
    std::size_t known_text(PyObject* name, PyObject* value, std::size_t position);
    void read_cells(PyObject* row, bool learn);
    Cell read_cell_of(PyObject* name, PyObject* value, std::size_t position);
    void check(const Cell& cell) const;
    void find_place(Cell& cell) const;
    void share(Cell& cell) const;
    bool opens(const Cell& cell) const;
    void open();
    void open_cells();
    void sort_cells();
    void forget_names();
    void write_cells();
    void write_shared();
    std::size_t column_at(PyObject* name, std::size_t position);
    std::size_t column_of(PyObject* name) const;
    bool is_full() const {
        return static_cast<std::size_t>(PyDict_Size(names_.ptr())) >= most_names_;
    }

    Coder& coder_;
    nb::dict names_;
    std::size_t most_names_;
    bool shares_names_ = false;
    std::size_t version_ = 0;  // of the coder, when the slots were filled
    std::vector<Slot> slots_;  // by position in the row
    std::vector<double> values_;
    std::vector<Number> numbers_;  // of a row that holds more than numbers
    std::vector<Number> shared_;   // what the row adds to shared columns
    std::vector<Cell> cells_;
};

}  // namespace dfop
