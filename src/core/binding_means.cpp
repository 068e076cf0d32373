// Running means of columns, for the coding of rows.
#include <nanobind/stl/vector.h>

#include "binding.hpp"
#include "means.hpp"

using namespace nanobind::literals;

namespace dfop {
namespace {

nb::dict means_state(Means& means) {
    nb::dict out;
    out["sums"] = to_array(means.sums(), {means.size()});
    out["counts"] = to_array(means.counts(), {means.size()});
    return out;
}

void restore_means(Means& means, const Vector& sums, const Vector& counts) {
    require(sums.size() == counts.size(), "one count per sum is needed");
    means.sums().assign(sums.data(), sums.data() + sums.size());
    means.counts().assign(counts.data(), counts.data() + counts.size());
}

void add_rows(Means& means, const Matrix& X, const Vector& weight) {
    require(X.shape(1) == means.size(), "X has the wrong number of columns");
    means.add_rows(X.data(), X.shape(0),
                   per_row(weight, X.shape(0), "weight has the wrong length"));
}

void fill(Means& means, const Out& X, const std::vector<std::size_t>& columns,
          const Vector& weight) {
    const std::size_t n = X.shape(0), width = X.shape(1);
    const PerRow w = per_row(weight, n, "weight has the wrong length");
    for (const std::size_t j : columns) require(j < width && j < means.size(), "no such column");
    for (const std::size_t j : columns) means.fill_column(j, X.data() + j, n, width, w);
}

}  // namespace

void bind_means(nb::module_& m) {
    nb::class_<Means>(m, "Means")
        .def(nb::init<>())
        .def("__len__", &Means::size)
        .def("resize", &Means::resize, "size"_a)
        .def(
            "add",
            [](Means& means, std::size_t column, double value) {
                require(column < means.size(), "no such column");
                means.add(column, value, 1.0);
            },
            "column"_a, "value"_a)
        .def(
            "mean",
            [](const Means& means, std::size_t column) {
                require(column < means.size(), "no such column");
                return means.mean(column);
            },
            "column"_a)
        .def("add_rows", &add_rows, "X"_a.noconvert(), "weight"_a.noconvert())
        .def("fill", &fill, "X"_a.noconvert(), "columns"_a, "weight"_a.noconvert())
        .def("snapshot", &means_state)
        .def("restore", &restore_means, "sums"_a.noconvert(), "counts"_a.noconvert());
}

}  // namespace dfop
