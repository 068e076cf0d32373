// The Python face of the filter. Arrays are checked here for shape only; what their values mean
// is checked by the callers in Python, who can name the row and the column.
#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <numpy/arrayobject.h>

#include <mutex>

#include "binding_uncertainty.hpp"
#include "dict_rows.hpp"
#include "filter.hpp"
#include "moved.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace dfop {
namespace {

using Matrix = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Strided = nb::ndarray<const double, nb::ndim<2>, nb::device::cpu>;
using Vector = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Out = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// A filter that may be called from several threads; each call waits for the one before it. The
// lock is taken without the GIL, so that a holder that waits for the GIL can go on.
struct Guarded {
    Filter filter;
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

const Kernel& kernel_named(const std::string& name) {
    if (name == best_kernel().name || name.empty()) return best_kernel();
    if (name == baseline::kernel.name) return baseline::kernel;
    throw nb::value_error("this processor has no such kernel");
}

void require(bool condition, const char* message) {
    if (!condition) throw nb::value_error(message);
}

PerRow per_row(const Vector& values, std::size_t n, const char* message) {
    require(values.shape(0) == n || values.shape(0) == 1, message);
    return {values.data(), values.shape(0) == n ? std::size_t{1} : std::size_t{0}};
}

void learn(Guarded& g, const Matrix& X, const Strided& Y, const Vector& discount,
           const Vector& gain, const Out& out) {
    const std::size_t n = X.shape(0);
    const auto held = g.lock();
    require(X.shape(1) == g.filter.features(), "X has the wrong number of columns");
    require(Y.shape(0) == n && Y.shape(1) == g.filter.outputs(), "Y has the wrong shape");
    require(out.shape(0) == n && out.shape(1) == g.filter.outputs(), "out has the wrong shape");
    const PerRow lam = per_row(discount, n, "discount has the wrong length");
    const PerRow weight = per_row(gain, n, "gain has the wrong length");
    const Targets y{Y.data(), Y.stride(0), Y.stride(1)};
    nb::gil_scoped_release release;
    g.filter.learn(X.data(), n, y, lam, weight, out.data());
}

void predict(Guarded& g, const Matrix& X, const Out& out) {
    const std::size_t n = X.shape(0);
    const auto held = g.lock();
    require(X.shape(1) == g.filter.features(), "X has the wrong number of columns");
    require(out.shape(0) == n && out.shape(1) == g.filter.outputs(), "out has the wrong shape");
    nb::gil_scoped_release release;
    g.filter.predict(X.data(), n, out.data());
}

// One row of a filter with one output. Looks into the array itself: nanobind's general check
// would cost more than the update at small d.
double step(Guarded& g, nb::handle x, double y, double discount) {
    auto* row = reinterpret_cast<PyArrayObject*>(x.ptr());
    if (!PyArray_Check(x.ptr()) || PyArray_TYPE(row) != NPY_DOUBLE || PyArray_NDIM(row) != 1 ||
        !PyArray_ISCARRAY_RO(row))
        throw nb::type_error("x must be a contiguous one-dimensional float64 array");
    const auto held = g.lock();
    const auto n = static_cast<std::size_t>(PyArray_DIM(row, 0));
    require(n == g.filter.features(), "x has the wrong number of features");
    require(g.filter.outputs() == 1, "step needs a filter with one output");
    require(discount > 0.0 && discount <= 1.0, "discount must be in (0, 1]");
    const auto* values = static_cast<const double*>(PyArray_DATA(row));
    require(first_unusable(values, n) == n && first_unusable(&y, 1) == 1,
            "x and y must be finite and below 2**500 in magnitude");
    const double one = 1.0;
    double yhat;
    g.filter.learn(values, 1, {&y, 1, 1}, {&discount, 0}, {&one, 0}, &yhat);
    return yhat;
}

nb::object to_array(std::vector<double> values, std::vector<std::size_t> shape) {
    auto* owned = new std::vector<double>(std::move(values));
    nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<double>*>(p); });
    return nb::cast(nb::ndarray<nb::numpy, double>(owned->data(), shape.size(), shape.data(), owner));
}

std::size_t dimension(const Filter& f) { return f.features() + f.intercept(); }

nb::dict snapshot(Guarded& g) {
    const auto held = g.lock();
    Snapshot s = g.filter.snapshot();
    const std::size_t d = dimension(g.filter);
    nb::dict out;
    out["upper"] = to_array(std::move(s.upper), {d * (d - (d > 0)) / 2});
    out["D"] = to_array(std::move(s.D), {d});
    out["limit"] = to_array(std::move(s.limit), {d});
    out["scale"] = to_array(std::move(s.scale), {d});
    out["weights"] = to_array(std::move(s.weights), {g.filter.outputs(), d});
    out["unseen_variance"] = nb::float_(s.unseen_variance);
    out["faded"] = nb::float_(s.faded);
    return out;
}

void restore(Guarded& g, const nb::dict& state) {
    const auto held = g.lock();
    const std::size_t d = dimension(g.filter);
    const auto take = [&](const char* name, std::size_t size) {
        const auto a = nb::cast<nb::ndarray<const double, nb::c_contig, nb::device::cpu>>(state[name]);
        require(a.size() == size, "the state does not fit this filter");
        return std::vector<double>(a.data(), a.data() + size);
    };
    Snapshot s;
    s.upper = take("upper", d * (d - (d > 0)) / 2);
    s.D = take("D", d);
    s.limit = take("limit", d);
    s.scale = take("scale", d);
    s.weights = take("weights", g.filter.outputs() * d);
    s.unseen_variance = nb::cast<double>(state["unseen_variance"]);
    s.faded = nb::cast<double>(state["faded"]);
    g.filter.restore(s);
}

nb::tuple coefficients(Guarded& g) {
    const auto held = g.lock();
    const std::size_t m = g.filter.outputs(), d = g.filter.features();
    std::vector<double> coef(m * d), constant(m);
    g.filter.coefficients(coef.data(), constant.data());
    return nb::make_tuple(to_array(std::move(coef), {m, d}), to_array(std::move(constant), {m}));
}

// Learning from dicts: a filter whose features are named, and may come and go.
struct NamedFilter {
    nb::object owner;  // keeps the filter alive
    Guarded* guarded;
    double discount;
    DictRows rows;
    std::vector<double> yhat, targets;

    NamedFilter(nb::object filter, const nb::list& names, double lam)
        : owner(std::move(filter)), guarded(nb::cast<Guarded*>(owner)), discount(lam) {
        require(nb::len(names) == guarded->filter.features(), "one name per feature is needed");
        rows.add(to_vector(names));
    }

    static std::vector<nb::object> to_vector(const nb::list& names) {
        std::vector<nb::object> out;
        for (nb::handle name : names) out.push_back(nb::borrow(name));
        return out;
    }

    void predict_row(nb::handle row) {
        const auto held = guarded->lock();
        const double* x = rows.read(row, nullptr);
        yhat.resize(guarded->filter.outputs());
        guarded->filter.predict(x, 1, yhat.data());
    }

    // The caller holds the lock.
    void learn_row(nb::handle row) {
        std::vector<nb::object> news;
        const double* x = rows.read(row, &news);
        if (!news.empty()) {
            rows.add(news);
            guarded->filter.add_features(news.size());
            x = rows.read(row, nullptr);
        }
        yhat.resize(guarded->filter.outputs());
        const double gain = 1.0;
        guarded->filter.learn(x, 1, {targets.data(), 1, 1}, {&discount, 0}, {&gain, 0},
                              yhat.data());
    }

    double predict_number(nb::handle row) {
        predict_row(row);
        return yhat[0];
    }

    void learn_number(nb::handle row, nb::handle y) {
        const double target = to_number(y.ptr());
        if (!(std::fabs(target) <= kLargest))
            throw nb::value_error(("y is " + nb::cast<std::string>(nb::repr(y)) +
                                   ": y must be finite and below 2**500 in magnitude")
                                      .c_str());
        const auto held = guarded->lock();
        targets.assign(1, target);
        learn_row(row);
    }

    std::vector<double> predict_outputs(nb::handle row) {
        predict_row(row);
        return yhat;
    }

    // Output k gets 1, all others 0; k = outputs opens a new output.
    void learn_class(nb::handle row, std::size_t k) {
        const auto held = guarded->lock();
        rows.read(row, nullptr);  // an error in the row must leave the outputs as they are
        if (k >= guarded->filter.outputs())
            guarded->filter.add_outputs(k + 1 - guarded->filter.outputs());
        targets.assign(guarded->filter.outputs(), 0.0);
        targets[k] = 1.0;
        learn_row(row);
    }

    void add_names(const nb::list& names) {
        const auto held = guarded->lock();
        rows.add(to_vector(names));
        guarded->filter.add_features(nb::len(names));
    }

    void add_outputs(std::size_t count) {
        const auto held = guarded->lock();
        guarded->filter.add_outputs(count);
    }

    nb::list names() const {
        nb::list out;
        for (const auto& name : rows.names()) out.append(name);
        return out;
    }
};

void* import_numpy() {
    import_array();
    return nullptr;
}

NB_MODULE(_native, m) {
    import_numpy();
    if (PyErr_Occurred()) throw nb::python_error();

    nb::class_<Guarded>(m, "Filter")
        .def("__init__",
             [](Guarded* g, std::size_t features, std::size_t outputs, bool intercept,
                double prior_variance, double cap, const std::string& kernel) {
                 new (g) Guarded{Filter(features, outputs, intercept, prior_variance, cap,
                                        kernel_named(kernel)),
                                 {}};
             },
             "features"_a, "outputs"_a, "intercept"_a, "prior_variance"_a, "cap"_a,
             "kernel"_a = "")
        .def("learn", &learn, "X"_a.noconvert(), "Y"_a.noconvert(), "discount"_a.noconvert(),
             "gain"_a.noconvert(), "out"_a.noconvert())
        .def("predict", &predict, "X"_a.noconvert(), "out"_a.noconvert())
        .def("forget",
             [](Guarded& g, double discount) {
                 const auto held = g.lock();
                 g.filter.forget(discount);
             },
             "discount"_a)
        .def("step", &step, "x"_a, "y"_a, "discount"_a)
        .def("coefficients", &coefficients)
        .def("variances",
             [](Guarded& g) {
                 const auto held = g.lock();
                 return to_array(weight_variances(g.filter.snapshot()), {dimension(g.filter)});
             })
        .def("snapshot", &snapshot)
        .def("restore", &restore, "state"_a)
        .def_prop_ro("features", [](Guarded& g) { return g.filter.features(); })
        .def_prop_ro("outputs", [](Guarded& g) { return g.filter.outputs(); })
        .def_prop_ro("intercept", [](Guarded& g) { return g.filter.intercept(); })
        .def_prop_ro("prior_variance", [](Guarded& g) { return g.filter.prior_variance(); })
        .def_prop_ro("cap", [](Guarded& g) { return g.filter.cap(); })
        .def_prop_ro("kernel", [](Guarded& g) { return g.filter.kernel_name(); });

    nb::class_<NamedFilter>(m, "NamedFilter")
        .def(nb::init<nb::object, nb::list, double>(), "filter"_a, "names"_a, "discount"_a)
        .def("predict_number", &NamedFilter::predict_number, "x"_a)
        .def("learn_number", &NamedFilter::learn_number, "x"_a, "y"_a.none())
        .def("predict_outputs", &NamedFilter::predict_outputs, "x"_a)
        .def("learn_class", &NamedFilter::learn_class, "x"_a, "k"_a)
        .def("add_names", &NamedFilter::add_names, "names"_a)
        .def("add_outputs", &NamedFilter::add_outputs, "count"_a)
        .def_prop_ro("names", &NamedFilter::names)
        .def_ro("discount", &NamedFilter::discount)
        .def_ro("filter", &NamedFilter::owner);

    m.def("first_unusable",
          [](const nb::ndarray<const double, nb::c_contig, nb::device::cpu>& values) {
              nb::gil_scoped_release release;
              return first_unusable(values.data(), values.size());
          },
          "values"_a.noconvert());
    m.attr("LARGEST") = kLargest;

    bind_uncertainty(m);
}

}  // namespace
}  // namespace dfop
