// The Python face of the coder: batches of columns, and its state.
#define DFOP_IMPORT_NUMPY
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "batch_coder.hpp"
#include "binding.hpp"
#include "cells.hpp"
#include "numpy_arrays.hpp"

using namespace nanobind::literals;

namespace dfop {

void restore_coder(Coder& coder, nb::handle described, nb::handle sums, nb::handle counts,
                   nb::handle lags, nb::handle shared);
nb::list describe_columns(const Coder& coder);
nb::list describe_buckets(const Buckets& buckets);
nb::list label_columns(const Coder& coder, nb::handle names);

namespace {

using GuardedCoder = Guarded<Coder>;

PyObject* kind_conflict = nullptr;

constexpr double kNeverSeen = 0.0;
// Batches with fewer cells are done sooner than another thread gets the GIL.
constexpr std::size_t kFewCells = 2000;

[[noreturn]] void raise_conflict(const Conflict& conflict) {
    const nb::object where =
        nb::make_tuple(conflict.row, conflict.position, conflict.text ? "text" : "number");
    PyErr_SetObject(kind_conflict, where.ptr());
    throw nb::python_error();
}

// The numbers of a batch and what goes with them, as given.
struct Given {
    PyArrayObject* numbers;
    std::size_t n, columns;
    bool gaps;  // whether there may be any

    Given(nb::handle array, bool gaps)
        : numbers(as_array(array, NPY_DOUBLE, 2, "numbers must be a C-ordered float64 matrix")),
          n(static_cast<std::size_t>(PyArray_DIM(numbers, 0))),
          columns(static_cast<std::size_t>(PyArray_DIM(numbers, 1))), gaps(gaps) {}

    const double* data() const { return static_cast<const double*>(PyArray_DATA(numbers)); }
    std::size_t cells() const { return n * columns; }
    bool has_gaps() const { return gaps && first_unusable(data(), cells()) < cells(); }
};

// Whether column ids are 0, 1, ... count - 1; None says so, and a range says it quickly.
bool are_all(nb::handle ids, std::size_t count) {
    if (ids.is_none()) return true;
    if (PyRange_Check(ids.ptr()))
        return nb::len(ids) == count && nb::cast<std::int64_t>(ids.attr("start")) == 0 &&
               nb::cast<std::int64_t>(ids.attr("step")) == 1;
    if (!PyList_Check(ids.ptr()) && !PyTuple_Check(ids.ptr())) return false;
    if (nb::len(ids) != count) return false;
    PyObject** items = PySequence_Fast_ITEMS(ids.ptr());
    for (std::size_t j = 0; j < count; ++j)
        if (!PyLong_CheckExact(items[j]) ||
            PyLong_AsSsize_t(items[j]) != static_cast<Py_ssize_t>(j)) {
            PyErr_Clear();  // a number too large is no id
            return false;
        }
    return true;
}

// Ids of columns that are not known and shall not be opened become kNone.
std::vector<std::size_t> read_ids(nb::handle ids, std::size_t count, std::size_t known,
                                  bool learn) {
    std::vector<std::size_t> out;
    out.reserve(count);
    std::size_t next = known;
    std::vector<unsigned char> met(known, 0);
    const auto take = [&](std::int64_t id) {
        auto column = static_cast<std::size_t>(id);
        if (column < known) {
            require(!met[column], "a column comes twice");
            met[column] = 1;
        } else if (learn) {
            require(column == next++, "new columns must have the next ids, in order");
        } else {
            column = kNone;
        }
        out.push_back(column);
    };
    if (ids.is_none())
        for (std::size_t j = 0; j < count; ++j) take(static_cast<std::int64_t>(j));
    else
        for (const nb::handle id : ids) take(nb::cast<std::int64_t>(id));
    require(out.size() == count, "one column id per column of numbers is needed");
    return out;
}

TextCells read_text(nb::handle text, std::size_t n) {
    require(PyTuple_Check(text.ptr()) && PyTuple_GET_SIZE(text.ptr()) == 2,
            "a column of text must be given as codes and values");
    auto* codes = as_array(text[0], NPY_INT64, 1, "codes must be a contiguous int64 array");
    require(static_cast<std::size_t>(PyArray_DIM(codes, 0)) == n, "codes have the wrong length");
    TextCells out{static_cast<const std::int64_t*>(PyArray_DATA(codes)), {}, {}};
    for (const nb::handle value : nb::iter(text[1])) {
        if (!PyUnicode_Check(value.ptr())) throw nb::type_error("values of text must be str");
        nb::object owner;
        const std::string_view stripped = strip_text(value.ptr(), owner);
        out.values.emplace_back(stripped);
        out.missing.push_back(is_gap_word(stripped));
    }
    const auto size = static_cast<std::int64_t>(out.values.size());
    for (std::size_t t = 0; t < n; ++t) require(out.codes[t] < size, "a code without a value");
    return out;
}

BatchCells read_cells(const Given& given, const nb::dict& texts, nb::handle ids, const Coder& coder,
                      bool learn) {
    BatchCells cells{
        given.data(), given.n, read_ids(ids, given.columns, coder.columns().size(), learn), {}};
    cells.texts.resize(given.columns);
    for (const auto [position, text] : texts) {
        const auto j = nb::cast<std::size_t>(position);
        require(j < given.columns, "text at a position beyond the columns");
        cells.texts[j] = read_text(text, given.n);
    }
    return cells;
}

template <class Work>
void without_gil(std::size_t cells, const Work& work) {
    if (cells < kFewCells) return work();
    nb::gil_scoped_release release;
    work();
}

nb::object new_rows(std::size_t n, std::size_t width) {
    const npy_intp shape[] = {static_cast<npy_intp>(n), static_cast<npy_intp>(width)};
    return new_array(2, shape);
}

// Whether the rows are their own code: plain numbers, and no column was ever anything else.
bool are_coded(const Coder& coder, const Given& given, const nb::dict& texts, nb::handle ids) {
    return texts.size() == 0 && given.columns == coder.width() && are_all(ids, given.columns) &&
           coder.is_plain() && !given.has_gaps();
}

// The same for the first rows of all, for which columns are opened.
bool open_plain(Coder& coder, const Given& given, const nb::dict& texts, nb::handle ids,
                PerRow weight) {
    if (coder.width() > 0 || texts.size() > 0 || given.cells() == 0 ||
        !are_all(ids, given.columns) || given.has_gaps())
        return false;
    std::size_t t = 0;
    while (t < given.n && !(weight[t] > 0.0)) ++t;
    if (t == given.n) return false;
    for (std::size_t j = 0; j < given.columns; ++j) coder.show_number(coder.open_column());
    return true;
}

// New columns are opened in their order, so each must be there no earlier than the one before.
void read_since(nb::handle since, const Coder& coder, BatchCells& cells) {
    cells.since = nb::cast<std::vector<std::size_t>>(since);
    require(cells.since.size() == cells.columns.size(), "one first row per column is needed");
    std::size_t before = 0;
    for (std::size_t j = 0; j < cells.columns.size(); ++j) {
        if (cells.columns[j] < coder.columns().size()) continue;
        require(cells.since[j] >= before, "new columns must come in the order of their first rows");
        before = cells.since[j];
    }
}

nb::tuple code_cells(Coder& coder, const BatchCells& cells, PerRow weight) {
    BatchCoder batch(coder, cells);
    if (const auto conflict = batch.find_conflict()) raise_conflict(*conflict);
    const std::size_t size = cells.n * cells.columns.size();
    nb::object rows;
    try {
        without_gil(size, [&] { batch.show(weight); });
        rows = new_rows(cells.n, coder.width());
        without_gil(size, [&] { batch.fill<true>(data_of(rows), weight); });
    } catch (...) {
        coder.rollback();
        throw;
    }
    nb::list widths;
    for (const auto& [row, width] : batch.widths()) widths.append(nb::make_tuple(row, width));
    return nb::make_tuple(rows, widths);
}

nb::tuple code(GuardedCoder& g, nb::handle numbers, const nb::dict& texts, nb::handle columns,
               nb::handle weight, bool gaps, nb::handle since) {
    const Given given(numbers, gaps);
    const std::span<const double> weights =
        as_doubles(weight, "weight must be a contiguous float64 array");
    require(weights.size() == given.n || weights.size() == 1, "weight has the wrong length");
    const PerRow w{weights.data(), weights.size() == given.n ? std::size_t{1} : std::size_t{0}};
    const auto held = g.lock();
    Coder& coder = g.model;
    coder.mark();
    if (!since.is_none() || (!are_coded(coder, given, texts, columns) &&
                             !open_plain(coder, given, texts, columns, w))) {
        BatchCells cells = read_cells(given, texts, columns, coder, true);
        if (!since.is_none()) read_since(since, coder, cells);
        return code_cells(coder, cells, w);
    }
    without_gil(given.cells(), [&] { coder.means().add_rows(given.data(), given.n, w); });
    nb::list widths;
    widths.append(nb::make_tuple(0, coder.width()));
    return nb::make_tuple(numbers, widths);
}

nb::object code_to_predict(GuardedCoder& g, nb::handle numbers, const nb::dict& texts,
                           nb::handle columns, bool gaps) {
    const Given given(numbers, gaps);
    const auto held = g.lock();
    if (are_coded(g.model, given, texts, columns)) return nb::borrow(numbers);
    const BatchCells cells = read_cells(given, texts, columns, g.model, false);
    BatchCoder batch(g.model, cells);
    if (const auto conflict = batch.find_conflict()) raise_conflict(*conflict);
    nb::object rows = new_rows(given.n, g.model.width());
    without_gil(given.cells(), [&] { batch.fill<false>(data_of(rows), {&kNeverSeen, 0}); });
    return rows;
}

nb::list kinds(GuardedCoder& g) {
    const auto held = g.lock();
    nb::list out;
    for (const Column& column : g.model.columns()) {
        if (column.kind == Kind::none)
            out.append(nb::none());
        else
            out.append(column.kind == Kind::number ? "number" : "text");
    }
    return out;
}

nb::dict state(GuardedCoder& g) {
    const auto held = g.lock();
    nb::dict out;
    out["sums"] = copy_to_array(g.model.means().sums());
    out["counts"] = copy_to_array(g.model.means().counts());
    return out;
}

nb::object clean_text(nb::handle text) {
    if (!PyUnicode_Check(text.ptr())) throw nb::type_error("text must be a str");
    nb::object owner;
    const std::string_view stripped = strip_text(text.ptr(), owner);
    return is_gap_word(stripped) ? nb::none() : to_python(stripped);
}

nb::object describe(GuardedCoder& g) {
    const auto held = g.lock();
    return describe_columns(g.model);
}

// A call without arguments.
template <auto Method>
auto locked(GuardedCoder& g) {
    const auto held = g.lock();
    return (g.model.*Method)();
}

void bind_class(nb::module_& m) {
    nb::class_<GuardedCoder>(m, "Coder")
        .def(
            "__init__",
            [](GuardedCoder* g, std::size_t most_texts) {
                require(most_texts > 0, "most_texts must be at least 1");
                new (g) GuardedCoder{Coder(most_texts), {}};
            },
            "most_texts"_a = kMostTexts)
        .def("code", &code, "numbers"_a, "texts"_a, "columns"_a.none(), "weight"_a, "gaps"_a = true,
             "since"_a = nb::none())
        .def("code_to_predict", &code_to_predict, "numbers"_a, "texts"_a, "columns"_a.none(),
             "gaps"_a = true)
        .def(
            "open_lags",
            [](GuardedCoder& g, std::size_t count) {
                const auto held = g.lock();
                g.model.mark();
                return g.model.open_lags(count);
            },
            "count"_a)
        .def("begin", &locked<&Coder::begin>)
        .def("commit", &locked<&Coder::commit>)
        .def("rollback", &locked<&Coder::rollback>)
        .def("kinds", &kinds)
        .def("describe", &describe)
        .def("state", &state)
        .def(
            "restore",
            [](GuardedCoder& g, nb::handle described, nb::handle sums, nb::handle counts,
               nb::handle lags, nb::handle shared) {
                const auto held = g.lock();
                restore_coder(g.model, described, sums, counts, lags, shared);
            },
            "described"_a, "sums"_a, "counts"_a, "lags"_a = nb::make_tuple(),
            "shared"_a = nb::make_tuple())
        .def(
            "labels",
            [](GuardedCoder& g, nb::handle names) {
                const auto held = g.lock();
                return label_columns(g.model, names);
            },
            "names"_a)
        .def_prop_ro("lags", &locked<&Coder::lags>)
        .def_prop_ro("shared",
                     [](GuardedCoder& g) {
                         const auto held = g.lock();
                         return describe_buckets(g.model.shared());
                     })
        .def_prop_ro("width", [](GuardedCoder& g) { return g.model.width(); })
        .def_prop_ro("columns", [](GuardedCoder& g) { return g.model.columns().size(); })
        .def_prop_ro("most_texts", [](GuardedCoder& g) { return g.model.most_texts(); });
}

}  // namespace

void bind_coder(nb::module_& m) {
    import_numpy();
    kind_conflict = PyErr_NewExceptionWithDoc(
        "dfop.core.KindError",
        "Text in a column of numbers, or a number in one of text. Its arguments: row, position, "
        "and the kind of the cell.",
        PyExc_ValueError, nullptr);
    if (!kind_conflict) throw nb::python_error();
    m.attr("KindError") = nb::steal(kind_conflict);
    Py_INCREF(kind_conflict);
    m.attr("MOST_TEXTS") = kMostTexts;
    m.attr("BUCKETS") = kBuckets;
    m.def("clean_text", &clean_text, "text"_a);
    bind_class(m);
}

}  // namespace dfop
