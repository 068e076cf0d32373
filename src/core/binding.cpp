// The Python face of the filter. Arrays are checked here for shape only; what their values mean
// is checked by the callers in Python, who can name the row and the column.
#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#include "binding_state.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <numpy/arrayobject.h>

#include <cmath>

using namespace nanobind::literals;

namespace dfop {
namespace {

using GuardedFilter = Guarded<Filter>;

const Kernel& kernel_named(const std::string& name) {
    if (name.empty()) return default_kernel();
    const Kernel* kernel = find_kernel(name);
    require(kernel != nullptr, "this processor has no such kernel");
    return *kernel;
}

void learn(GuardedFilter& g, const Matrix& X, const Strided& Y, const Vector& discount,
           const Vector& gain, const Out& out) {
    const std::size_t n = X.shape(0);
    const auto held = g.lock();
    require(X.shape(1) == g.model.features(), "X has the wrong number of columns");
    require(Y.shape(0) == n && Y.shape(1) == g.model.outputs(), "Y has the wrong shape");
    require(out.shape(0) == n && out.shape(1) == g.model.outputs(), "out has the wrong shape");
    const PerRow lam = per_row(discount, n, "discount has the wrong length");
    const PerRow weight = per_row(gain, n, "gain has the wrong length");
    const Targets y{Y.data(), Y.stride(0), Y.stride(1)};
    nb::gil_scoped_release release;
    g.model.learn(X.data(), n, y, lam, weight, kNoWalk, out.data());
}

// One row of a filter with one output. Looks into the array itself: nanobind's general check
// would cost more than the update at small d.
double step(GuardedFilter& g, nb::handle x, double y, double discount) {
    auto* row = reinterpret_cast<PyArrayObject*>(x.ptr());
    if (!PyArray_Check(x.ptr()) || PyArray_TYPE(row) != NPY_DOUBLE || PyArray_NDIM(row) != 1 ||
        !PyArray_ISCARRAY_RO(row))
        throw nb::type_error("x must be a contiguous one-dimensional float64 array");
    const auto held = g.lock();
    const auto n = static_cast<std::size_t>(PyArray_DIM(row, 0));
    require(n == g.model.features(), "x has the wrong number of features");
    require(g.model.outputs() == 1, "step needs a filter with one output");
    require(discount > 0.0 && discount <= 1.0, "discount must be in (0, 1]");
    const auto* values = static_cast<const double*>(PyArray_DATA(row));
    require(first_unusable(values, n) == n && std::fabs(y) <= kLargest,
            "x and y must be finite and below 2**500 in magnitude");
    const double one = 1.0;
    double yhat;
    g.model.learn(values, 1, {&y, 1, 1}, {&discount, 0}, {&one, 0}, kNoWalk, &yhat);
    return yhat;
}

void forget(GuardedFilter& g, double discount) {
    const auto held = g.lock();
    g.model.forget(discount, 0.0);
}

void forget_rows(GuardedFilter& g, const Vector& discount) {
    const auto held = g.lock();
    nb::gil_scoped_release release;
    for (std::size_t t = 0; t < discount.size(); ++t) g.model.forget(discount.data()[t], 0.0);
}

double replay(GuardedFilter& g, const Matrix& X, const Strided& Y, const StepArray& steps,
              const std::pair<Vector, Vector>& pace, const Stamps& stamps, double now,
              const Out& out) {
    const std::size_t n = X.shape(0);
    const auto held = g.lock();
    require(X.shape(1) == g.model.features(), "X has the wrong number of columns");
    require(Y.shape(0) == n && Y.shape(1) == g.model.outputs(), "Y has the wrong shape");
    require(out.shape(0) == n && out.shape(1) == g.model.outputs(), "out has the wrong shape");
    require(stamps.shape(0) == n, "stamps has the wrong length");
    const PerRow lam = per_row(pace.first, n, "discount has the wrong length");
    const PerRow log_lam = per_row(pace.second, n, "log_discount has the wrong length");
    const Steps order = steps_of(steps, n);
    const Targets y{Y.data(), Y.stride(0), Y.stride(1)};
    nb::gil_scoped_release release;
    return g.model.replay(X.data(), y, order, lam, log_lam, stamps.data(), now, out.data());
}

nb::tuple coefficients(GuardedFilter& g) {
    const auto held = g.lock();
    const std::size_t m = g.model.outputs(), d = g.model.features();
    std::vector<double> coef(m * d), constant(m);
    g.model.coefficients(coef.data(), constant.data());
    return nb::make_tuple(to_array(std::move(coef), {m, d}), to_array(std::move(constant), {m}));
}

nb::dict state(GuardedFilter& g) {
    const auto held = g.lock();
    const Filter& f = g.model;
    StateReader reader;
    Filter::fields(f.features(), f.outputs(), f.intercept(), &f, reader);
    return reader.state;
}

void restore(GuardedFilter& g, const nb::dict& state) {
    const auto held = g.lock();
    take_over(g.model, state, [](Filter* f, auto& visit) {
        Filter::fields(f->features(), f->outputs(), f->intercept(), f, visit);
    });
}

nb::dict shapes(std::size_t features, std::size_t outputs, bool intercept) {
    ShapeList list;
    Filter::fields<Filter>(features, outputs, intercept, nullptr, list);
    return list.shapes;
}

void check(std::size_t features, std::size_t outputs, bool intercept, const nb::dict& state) {
    check_state(state, [&](auto& visit) {
        Filter::fields<Filter>(features, outputs, intercept, nullptr, visit);
    });
}

void make(GuardedFilter* g, std::size_t features, std::size_t outputs, bool intercept,
          double prior_variance, double cap, const std::string& kernel) {
    new (g) GuardedFilter{
        Filter(features, outputs, intercept, prior_variance, false, cap, kernel_named(kernel)), {}};
}

void set_prior(GuardedFilter& g, const Matrix& U, const Vector& D, const Matrix& weights) {
    const auto held = g.lock();
    const std::size_t d = g.model.features() + g.model.intercept();
    require(U.shape(0) == d && U.shape(1) == d && D.shape(0) == d, "U or D has the wrong shape");
    require(weights.shape(0) == g.model.outputs() && weights.shape(1) == d,
            "weights has the wrong shape");
    g.model.set_prior(U.data(), D.data(), weights.data());
}

void add_features(GuardedFilter& g, std::size_t count) {
    const auto held = g.lock();
    g.model.add_features(count);
}

void add_outputs(GuardedFilter& g, std::size_t count) {
    const auto held = g.lock();
    g.model.add_outputs(count);
}

void drop_output(GuardedFilter& g, std::size_t k) {
    const auto held = g.lock();
    require(k < g.model.outputs(), "there is no such output");
    g.model.drop_output(k);
}

nb::object variances(GuardedFilter& g) {
    const auto held = g.lock();
    std::vector<double> P = g.model.variances();
    const std::size_t d = P.size();
    return to_array(std::move(P), {d});
}

nb::object limited_rows(GuardedFilter& g) {
    const auto held = g.lock();
    return shown_count(g.model.limited_rows());
}

void refresh_limits(GuardedFilter& g) {
    const auto held = g.lock();
    g.model.refresh_limits();
}

std::size_t memory_bytes(GuardedFilter& g) {
    const auto held = g.lock();
    return sizeof(GuardedFilter) + g.model.memory_bytes();
}

void bind_filter(nb::module_& m) {
    nb::class_<GuardedFilter>(m, "Filter")
        .def("__init__", &make, "features"_a, "outputs"_a, "intercept"_a, "prior_variance"_a,
             "cap"_a, "kernel"_a = "")
        .def("learn", &learn, "X"_a.noconvert(), "Y"_a.noconvert(), "discount"_a.noconvert(),
             "gain"_a.noconvert(), "out"_a.noconvert())
        .def("predict", &predict<Filter>, "X"_a.noconvert(), "out"_a.noconvert())
        .def("replay", &replay, "X"_a.noconvert(), "Y"_a.noconvert(), "steps"_a.noconvert(),
             "pace"_a, "stamps"_a.noconvert(), "now"_a, "out"_a.noconvert())
        .def("forget", &forget, "discount"_a)
        .def("forget", &forget_rows, "discount"_a.noconvert())
        .def("set_prior", &set_prior, "U"_a.noconvert(), "D"_a.noconvert(), "weights"_a.noconvert())
        .def("add_features", &add_features, "count"_a)
        .def("add_outputs", &add_outputs, "count"_a)
        .def("drop_output", &drop_output, "k"_a)
        .def("refresh_limits", &refresh_limits)
        .def("step", &step, "x"_a, "y"_a, "discount"_a)
        .def("coefficients", &coefficients)
        .def("variances", &variances)
        .def("state", &state)
        .def("restore", &restore, "state"_a)
        .def_static("shapes", &shapes, "features"_a, "outputs"_a, "intercept"_a)
        .def_static("check_state", &check, "features"_a, "outputs"_a, "intercept"_a, "state"_a)
        .def_prop_ro("features", [](GuardedFilter& g) { return g.model.features(); })
        .def_prop_ro("outputs", [](GuardedFilter& g) { return g.model.outputs(); })
        .def_prop_ro("intercept", [](GuardedFilter& g) { return g.model.intercept(); })
        .def_prop_ro("prior_variance", [](GuardedFilter& g) { return g.model.prior_variance(); })
        .def_prop_ro("cap", [](GuardedFilter& g) { return g.model.cap(); })
        .def_prop_ro("limited_rows", &limited_rows)
        .def_prop_ro("memory_bytes", &memory_bytes)
        .def_prop_ro("kernel", [](GuardedFilter& g) { return g.model.kernel_name(); });
}

void* import_numpy() {
    import_array();
    return nullptr;
}

NB_MODULE(_native, m) {
    import_numpy();
    if (PyErr_Occurred()) throw nb::python_error();
    try {
        default_kernel();
    } catch (const std::invalid_argument& error) {
        throw nb::import_error(error.what());
    }

    bind_filter(m);
    bind_bank(m);
    bind_coder(m);
    bind_keyed(m);
    bind_rows(m);
    bind_sketch(m);
    bind_uncertainty(m);

    m.def(
        "first_unusable",
        [](const nb::ndarray<const double, nb::c_contig, nb::device::cpu>& values) {
            nb::gil_scoped_release release;
            return first_unusable(values.data(), values.size());
        },
        "values"_a.noconvert());
    // For tests: functions as the kernels have them, in place.
    const auto bind_function = [&](const char* name, auto of_kernel) {
        m.def(
            name,
            [of_kernel](const Out& values, const std::string& kernel) {
                const Kernel* found = find_kernel(kernel);
                require(found != nullptr, "there is no such kernel");
                (found->*of_kernel)(values.data(), values.size());
            },
            "values"_a.noconvert(), "kernel"_a);
    };
    bind_function("cosines", &Kernel::cosines);
    bind_function("exponentials", &Kernel::exponentials);
    m.attr("LARGEST") = kLargest;
    m.attr("SMALLEST") = kSmallest;
}

}  // namespace
}  // namespace dfop
