// What the parts of the binding share.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <mutex>
#include <vector>

#include "filter.hpp"

namespace dfop {

namespace nb = nanobind;

using Matrix = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Strided = nb::ndarray<const double, nb::ndim<2>, nb::device::cpu>;
using Vector = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using StepArray = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Truths = nb::ndarray<const bool, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Stamps = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Out = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using OutOfEach = nb::ndarray<double, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
using OfEach = nb::ndarray<const double, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

// A model that may be called from several threads; each call waits for the one before it. The
// lock is taken without the GIL, so that a holder that waits for the GIL can go on.
template <class Model>
struct Guarded {
    Model model;
    std::mutex mutex;

    std::unique_lock<std::mutex> lock() {
        std::unique_lock<std::mutex> held(mutex, std::try_to_lock);
        if (!held.owns_lock()) {
            nb::gil_scoped_release release;
            held.lock();
        }
        return held;
    }
};

inline void require(bool condition, const char* message) {
    if (!condition) throw nb::value_error(message);
}

inline PerRow per_row(const Vector& values, std::size_t n, const char* message) {
    require(values.shape(0) == n || values.shape(0) == 1, message);
    return {values.data(), values.shape(0) == n ? std::size_t{1} : std::size_t{0}};
}

// Steps of a replay of `n` rows, each of them a row or the label of a row.
inline Steps steps_of(const StepArray& steps, std::size_t n) {
    const auto rows = static_cast<std::int64_t>(n);
    for (std::size_t i = 0; i < steps.size(); ++i)
        require(-rows <= steps.data()[i] && steps.data()[i] < rows, "a step of no row");
    return {steps.data(), steps.size()};
}

template <class Model>
void predict(Guarded<Model>& g, const Matrix& X, const Out& out) {
    const std::size_t n = X.shape(0);
    const auto held = g.lock();
    require(X.shape(1) == g.model.features(), "X has the wrong number of columns");
    require(out.shape(0) == n && out.shape(1) == g.model.outputs(), "out has the wrong shape");
    nb::gil_scoped_release release;
    g.model.predict(X.data(), n, out.data());
}

// A count of rows; None where it is not known.
inline nb::object shown_count(double rows) {
    if (rows == Filter::kNotCounted) return nb::none();
    return nb::int_(static_cast<std::int64_t>(rows));
}

nb::object to_array(std::vector<double> values, std::vector<std::size_t> shape);
void bind_bank(nb::module_& m);
void bind_coder(nb::module_& m);
void bind_keyed(nb::module_& m);
void bind_rows(nb::module_& m);
void bind_sketch(nb::module_& m);
void bind_uncertainty(nb::module_& m);

}  // namespace dfop
