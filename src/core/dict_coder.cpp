#include "dict_coder.hpp"

#include <algorithm>

namespace dfop {
namespace {

nb::object checked(PyObject* object) {
    if (!object) throw nb::python_error();
    return nb::steal(object);
}

// By what names are ordered: by their types, then by their values.
nb::object rank_of(PyObject* name) {
    if (PyUnicode_Check(name) || PyLong_Check(name) || PyFloat_Check(name)) return nb::borrow(name);
    return checked(PyObject_Repr(name));
}

nb::object type_name(PyObject* name) {
    return checked(PyObject_GetAttrString(reinterpret_cast<PyObject*>(Py_TYPE(name)), "__name__"));
}

}  // namespace

const double* DictCoder::code(PyObject* row, bool learn) {
    start_row(row);
    Means& means = coder_.means();
    bool in_line = true;
    if (const std::size_t count = read_known(row, in_line); count != kNone) {
        if (learn && in_line && count == means.size())
            means.add_row(values_.data());
        else
            for (std::size_t i = 0; learn && i < count; ++i)
                if (const std::size_t place = slots_[i].place; place != kNone)
                    means.add(place, values_[place], 1.0);
        return values_.data();
    }
    start_row(row);
    read_cells(row, learn);
    if (learn)
        for (const Number& number : numbers_) means.add(number.place, number.value, 1.0);
    return values_.data();
}

void DictCoder::start_row(PyObject* row) {
    if (!PyDict_Check(row))
        throw nb::type_error("a row must be a dict of feature names and values");
    if (version_ != coder_.version()) {
        slots_.clear();
        version_ = coder_.version();
    }
    const auto size = static_cast<std::size_t>(PyDict_GET_SIZE(row));
    if (slots_.size() < size) slots_.resize(size);
    values_.assign(coder_.width(), 0.0);
    numbers_.clear();
    for (std::size_t i = 0; i < std::min(lags.size(), coder_.lags().size()); ++i)
        values_[coder_.lags()[i]] = lags[i];
}

// Reads a row of numbers and known texts. Returns how many there are, kNone if the row holds
// anything else; the slots say which are numbers, and in which coded columns: `in_line` if these are
// the first ones, in their order.
std::size_t DictCoder::read_known(PyObject* row, bool& in_line) {
    Py_ssize_t at = 0;
    std::size_t position = 0;
    PyObject *name, *value;
    const Slot* const slots = slots_.data();
    while (position < slots_.size() && PyDict_Next(row, &at, &name, &value)) {
        const Slot& slot = slots[position];
        if (slot.name.ptr() == name && slot.place != kNone && PyFloat_CheckExact(value)) {
            const double number = PyFloat_AS_DOUBLE(value);
            if (!is_usable(number)) return kNone;
            values_[slot.place] = number;
        } else if (!read_known_cell(name, value, position)) {
            return kNone;
        }
        in_line &= slot.place == position;
        ++position;
    }
    return position == static_cast<std::size_t>(PyDict_GET_SIZE(row)) ? position : kNone;
}

// The same for one cell; false if it is anything else.
bool DictCoder::read_known_cell(PyObject* name, PyObject* value, std::size_t position) {
    if (PyUnicode_Check(value)) {
        const std::size_t place = known_text(name, value, position);
        if (place != kNone) values_[place] = 1.0;
        return place != kNone;
    }
    if (!PyFloat_Check(value) && !PyLong_Check(value)) return false;
    const double number = PyFloat_AsDouble(value);
    if (number == -1.0 && PyErr_Occurred()) {
        PyErr_Clear();
        return false;
    }
    column_at(name, position);
    const Slot& slot = slots_[position];
    if (!is_usable(number) || slot.place == kNone || slot.name.ptr() != name) return false;
    values_[slot.place] = number;
    return true;
}

// The coded column of a text that has one of its own, kNone otherwise.
std::size_t DictCoder::known_text(PyObject* name, PyObject* value, std::size_t position) {
    const std::size_t column = column_at(name, position);
    if (column == kNone || coder_.columns()[column].kind != Kind::text) return kNone;
    nb::object owner;
    const std::string_view text = strip_text(value, owner);
    const TextPlaces& places = coder_.columns()[column].places;
    const auto known = places.find(text);
    return known == places.end() || is_gap_word(text) ? kNone : known->second;
}

// The column of a name, kNone if it has none.
std::size_t DictCoder::column_of(PyObject* name) const {
    PyObject* found = PyDict_GetItemWithError(names_.ptr(), name);
    if (!found) {
        if (PyErr_Occurred()) throw nb::python_error();
        return kNone;
    }
    const std::size_t column = PyLong_AsSize_t(found);
    if (column < coder_.columns().size()) return column;
    if (PyErr_Occurred()) throw nb::python_error();
    throw nb::value_error("the names do not fit the coder");
}

// The same for a name at some position of a row, which is remembered.
std::size_t DictCoder::column_at(PyObject* name, std::size_t position) {
    Slot* slot = position < slots_.size() ? &slots_[position] : nullptr;
    if (slot && slot->name.ptr() == name && slot->place != kNone) return slot->column;
    const bool known = slot && slot->name.ptr() == name;
    nb::object kept = nb::borrow(name);
    const std::size_t column = known ? slot->column : column_of(name);
    if (!slot || column == kNone) return column;
    if (!known) slot->name = std::move(kept);
    slot->column = column;
    const Column& c = coder_.columns()[column];
    slot->place = c.kind == Kind::number ? c.place : kNone;
    return column;
}

void DictCoder::read_cells(PyObject* row, bool learn) {
    struct Emptied {  // the row's objects are let go, whatever happens
        std::vector<Cell>& cells;
        ~Emptied() { cells.clear(); }
    } emptied{cells_};
    Py_ssize_t at = 0;
    std::size_t position = 0;
    PyObject *name, *value;
    bool something_new = false;
    while (PyDict_Next(row, &at, &name, &value)) {
        cells_.push_back(read_cell_of(name, value, position++));
        check(cells_.back());
        find_place(cells_.back());
        something_new = something_new || opens(cells_.back());
    }
    if (learn && something_new) open();
    write_cells();
    for (const Cell& cell : cells_)
        shares_names_ = shares_names_ || (learn && cell.bucket != kNone);
}

DictCoder::Cell DictCoder::read_cell_of(PyObject* name, PyObject* value, std::size_t position) {
    Cell cell{
        nb::borrow(name), nb::borrow(value), {}, CellKind::other, 0.0, {}, kNone, kNone, kNone};
    cell.kind = read_cell(value, cell.number);
    if (cell.kind == CellKind::text) {
        cell.text = strip_text(value, cell.bytes);
        if (is_gap_word(cell.text)) cell.kind = CellKind::missing;
    }
    cell.column = column_at(name, position);
    return cell;
}

void DictCoder::check(const Cell& cell) const {
    const char* problem = nullptr;
    const Kind kind = cell.column == kNone ? Kind::none : coder_.columns()[cell.column].kind;
    if (cell.kind == CellKind::other || (cell.kind == CellKind::number && !is_usable(cell.number)))
        problem =
            "feature %.60R is %.60R; expected text or a finite number below 2**500 in magnitude: "
            "encode "
            "or drop it before learning";
    else if (cell.kind == CellKind::number && kind == Kind::text)
        problem =
            "feature %.60R is %.60R, but it was text before: give a feature values of one kind";
    else if (cell.kind == CellKind::text && kind == Kind::number)
        problem =
            "feature %.60R is %.60R, but it was a number before: give a feature values of one kind";
    if (!problem) return;
    PyErr_Format(PyExc_ValueError, problem, cell.name.ptr(), cell.value.ptr());
    throw nb::python_error();
}

// Where the cell stands with what is known; refuses numbers given as text.
void DictCoder::find_place(Cell& cell) const {
    const Column* column = cell.column == kNone ? nullptr : &coder_.columns()[cell.column];
    if (cell.kind == CellKind::text) {
        if (column) {
            const auto known = column->places.find(cell.text);
            if (known != column->places.end()) {
                cell.place = known->second;
                return;
            }
        }
        if (reads_as_number(cell.text)) {
            PyErr_Format(
                PyExc_ValueError,
                "feature %.60R is %.60R, a number given as text: convert it to a number, or put "
                "a letter before it if it is a name",
                cell.name.ptr(), cell.value.ptr());
            throw nb::python_error();
        }
        if (column) cell.place = column->find(cell.text, coder_.most_texts());
    } else if (column) {
        cell.place = cell.kind == CellKind::missing ? column->gap : column->place;
    }
    if (!column && is_full()) share(cell);
}

// The cell of a name that has no column of its own: its value counts for its bucket.
void DictCoder::share(Cell& cell) const {
    const nb::object as_text = checked(PyObject_Str(cell.name.ptr()));
    nb::object owner;
    Py_ssize_t size;
    const char* bytes = PyUnicode_AsUTF8AndSize(as_text.ptr(), &size);
    if (!bytes) {
        PyErr_Clear();  // no valid Unicode
        owner = checked(PyUnicode_AsEncodedString(as_text.ptr(), "utf-8", "surrogatepass"));
        bytes = PyBytes_AS_STRING(owner.ptr());
        size = PyBytes_GET_SIZE(owner.ptr());
    }
    std::string name(bytes, static_cast<std::size_t>(size));
    if (cell.kind == CellKind::text) name.append("=").append(cell.text);
    cell.bucket = bucket_of(name);
    cell.place = cell.kind == CellKind::missing ? kNone : coder_.shared()[cell.bucket];
}

// Whether the cell shows something for the first time.
bool DictCoder::opens(const Cell& cell) const {
    if (cell.bucket != kNone) return cell.place == kNone && cell.kind != CellKind::missing;
    return cell.place == kNone ||
           (cell.kind == CellKind::number && coder_.columns()[cell.column].kind == Kind::none);
}

void DictCoder::open() {
    coder_.mark();
    try {
        sort_cells();
        open_cells();
    } catch (...) {
        rollback();
        throw;
    }
}

void DictCoder::rollback() {
    coder_.rollback();
    forget_names();
}

// Names of columns that were taken back are the last ones.
void DictCoder::forget_names() {
    std::vector<nb::object> gone;
    Py_ssize_t at = 0;
    PyObject *name, *column;
    while (PyDict_Next(names_.ptr(), &at, &name, &column))
        if (PyLong_AsSize_t(column) >= coder_.columns().size()) gone.push_back(nb::borrow(name));
    PyErr_Clear();
    for (const nb::object& each : gone)
        if (PyDict_DelItem(names_.ptr(), each.ptr()) < 0) PyErr_Clear();
}

// New columns come first, then the rest; each in the order of the names, as a dict's is chance.
void DictCoder::open_cells() {
    for (Cell& cell : cells_) {
        if (cell.column != kNone) continue;
        if (is_full()) {
            share(cell);
            continue;
        }
        cell.column = coder_.columns().size();
        const nb::object number = checked(PyLong_FromSize_t(cell.column));
        if (PyDict_SetItem(names_.ptr(), cell.name.ptr(), number.ptr()) < 0)
            throw nb::python_error();
        coder_.open_column();
    }
    for (Cell& cell : cells_) {
        if (cell.bucket != kNone) {
            if (cell.kind != CellKind::missing) cell.place = coder_.show_shared(cell.bucket);
        } else if (cell.kind == CellKind::text) {
            cell.place = coder_.show_text(cell.column, cell.text);
        } else if (cell.kind == CellKind::missing) {
            coder_.show_gap(cell.column);
            cell.place = coder_.columns()[cell.column].gap;
        } else {
            coder_.show_number(cell.column);
            cell.place = coder_.columns()[cell.column].place;
        }
    }
    const std::vector<double> before = values_;
    values_.assign(coder_.width(), 0.0);
    std::copy(before.begin(), before.end(), values_.begin());
}

void DictCoder::sort_cells() {
    const nb::object ranks = checked(PyList_New(0));
    for (std::size_t i = 0; i < cells_.size(); ++i) {
        PyObject* name = cells_[i].name.ptr();
        const nb::object rank = nb::make_tuple(type_name(name), rank_of(name), i);
        if (PyList_Append(ranks.ptr(), rank.ptr()) < 0) throw nb::python_error();
    }
    if (PyList_Sort(ranks.ptr()) < 0) throw nb::python_error();
    std::vector<Cell> sorted;
    for (const nb::handle rank : nb::borrow<nb::list>(ranks))
        sorted.push_back(std::move(cells_[nb::cast<std::size_t>(rank[2])]));
    cells_ = std::move(sorted);
}

void DictCoder::write_cells() {
    shared_.clear();
    for (const Cell& cell : cells_) {
        const double value = cell.kind == CellKind::number ? cell.number : 1.0;
        if (cell.kind == CellKind::missing && cell.column != kNone) {
            const Column& column = coder_.columns()[cell.column];
            if (column.kind == Kind::number)
                values_[column.place] = coder_.means().mean(column.place);
        }
        if (cell.place == kNone) continue;
        if (cell.bucket != kNone) {
            shared_.push_back({cell.place, value});
            continue;
        }
        values_[cell.place] = value;
        if (cell.kind == CellKind::number) numbers_.push_back({cell.place, value});
    }
    if (!shared_.empty()) write_shared();
}

// Values that fall together are added in an order that does not depend on the dict's.
void DictCoder::write_shared() {
    std::sort(shared_.begin(), shared_.end(), [](const Number& a, const Number& b) {
        return a.place != b.place ? a.place < b.place : a.value < b.value;
    });
    for (const Number& number : shared_) values_[number.place] += number.value;
    for (const Number& number : shared_)
        values_[number.place] = std::clamp(values_[number.place], -kLargest, kLargest);
}

}  // namespace dfop
