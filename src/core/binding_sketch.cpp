// The Python face of the two sketches; see binding.cpp for what is checked where.
#include "binding_state.hpp"

#include <nanobind/stl/pair.h>

#include <cmath>

#include "frequent_directions.hpp"
#include "sketch.hpp"

using namespace nanobind::literals;

namespace dfop {
namespace {

using Starts = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Columns = nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// Rows by their non-zeros: those of row t stand from starts[t] to starts[t + 1].
struct SparseRows {
    const std::int64_t* starts;
    const std::int32_t* columns;
    const double* values;
    std::size_t count;

    SparseRows(const Starts& starts, const Columns& columns, const Vector& values,
               std::size_t features)
        : starts(starts.data()), columns(columns.data()), values(values.data()),
          count(starts.size() - (starts.size() > 0)) {
        const auto size = static_cast<std::int64_t>(columns.size());
        require(starts.size() > 0 && values.size() == columns.size(), "rows of different parts");
        require(this->starts[0] >= 0 && this->starts[count] <= size, "a row outside the values");
        for (std::size_t t = 0; t < count; ++t) {
            require(this->starts[t] <= this->starts[t + 1], "a row that ends before it begins");
            for (std::int64_t i = this->starts[t]; i < this->starts[t + 1]; ++i) {
                const std::int32_t column = this->columns[i];
                require(column >= 0 && static_cast<std::size_t>(column) < features &&
                            (i == this->starts[t] || column > this->columns[i - 1]),
                        "columns that are none, or not in ascending order");
            }
        }
    }
    SparseRow operator[](std::size_t t) const {
        return {columns + starts[t], values + starts[t],
                static_cast<std::size_t>(starts[t + 1] - starts[t])};
    }
};

void make_sketch(Guarded<Sketch>* g, std::size_t features, std::size_t outputs, std::size_t rank,
                 bool intercept, double prior_variance, double cap) {
    new (g)
        Guarded<Sketch>{Sketch(features, outputs, rank, intercept, prior_variance, false, cap), {}};
}

void make_directions(Guarded<FrequentDirections>* g, std::size_t features, std::size_t outputs,
                     std::size_t rank, bool intercept, double prior_variance) {
    new (g) Guarded<FrequentDirections>{
        FrequentDirections(features, outputs, rank, intercept, prior_variance), {}};
}

template <class Model>
void check_targets(const Model& sketch, std::size_t n, const Strided& Y, const Out& out) {
    require(Y.shape(0) == n && Y.shape(1) == sketch.outputs(), "Y has the wrong shape");
    require(out.shape(0) == n && out.shape(1) == sketch.outputs(), "out has the wrong shape");
}

template <class Model>
void learn(Guarded<Model>& g, const Matrix& X, const Strided& Y, const Vector& discount,
           const Vector& gain, const Out& out) {
    const std::size_t n = X.shape(0);
    const auto held = g.lock();
    require(X.shape(1) == g.model.features(), "X has the wrong number of columns");
    check_targets(g.model, n, Y, out);
    const PerRow lam = per_row(discount, n, "discount has the wrong length");
    const PerRow weight = per_row(gain, n, "gain has the wrong length");
    const Targets y{Y.data(), Y.stride(0), Y.stride(1)};
    nb::gil_scoped_release release;
    g.model.learn(X.data(), n, y, lam, weight, out.data());
}

template <class Model>
void learn_sparse(Guarded<Model>& g, const Starts& starts, const Columns& columns,
                  const Vector& values, const Strided& Y, const Vector& discount,
                  const Vector& gain, const Out& out) {
    const auto held = g.lock();
    const SparseRows rows(starts, columns, values, g.model.features());
    check_targets(g.model, rows.count, Y, out);
    const PerRow lam = per_row(discount, rows.count, "discount has the wrong length");
    const PerRow weight = per_row(gain, rows.count, "gain has the wrong length");
    const Targets y{Y.data(), Y.stride(0), Y.stride(1)};
    nb::gil_scoped_release release;
    for (std::size_t t = 0; t < rows.count; ++t)
        g.model.learn(rows[t], y.from(t).values, y.column, lam[t], weight[t],
                      out.data() + t * g.model.outputs());
}

template <class Model>
void predict_sparse(Guarded<Model>& g, const Starts& starts, const Columns& columns,
                    const Vector& values, const Out& out) {
    const auto held = g.lock();
    const SparseRows rows(starts, columns, values, g.model.features());
    require(out.shape(0) == rows.count && out.shape(1) == g.model.outputs(),
            "out has the wrong shape");
    nb::gil_scoped_release release;
    for (std::size_t t = 0; t < rows.count; ++t)
        g.model.predict(rows[t], out.data() + t * g.model.outputs());
}

using Pace = std::pair<Vector, Vector>;

template <class Model, class RowAt>
double replay_n(Model& model, std::size_t n, RowAt row_at, const Strided& Y, const StepArray& steps,
                const Pace& pace, const Stamps& stamps, double now, const Out& out) {
    check_targets(model, n, Y, out);
    require(stamps.shape(0) == n, "stamps has the wrong length");
    const PerRow lam = per_row(pace.first, n, "discount has the wrong length");
    const PerRow log_lam = per_row(pace.second, n, "log_discount has the wrong length");
    const Steps order = steps_of(steps, n);
    const Targets y{Y.data(), Y.stride(0), Y.stride(1)};
    nb::gil_scoped_release release;
    return replay_rows(model, row_at, y, order, lam, log_lam, stamps.data(), now, out.data());
}

template <class Model>
double replay(Guarded<Model>& g, const Matrix& X, const Strided& Y, const StepArray& steps,
              const Pace& pace, const Stamps& stamps, double now, const Out& out) {
    const auto held = g.lock();
    const std::size_t d = g.model.features();
    require(X.shape(1) == d, "X has the wrong number of columns");
    Nonzeros found;
    const auto row_at = [&](std::size_t s) { return found.of(X.data() + s * d, d); };
    return replay_n(g.model, X.shape(0), row_at, Y, steps, pace, stamps, now, out);
}

template <class Model>
double replay_sparse(Guarded<Model>& g, const Starts& starts, const Columns& columns,
                     const Vector& values, const Strided& Y, const StepArray& steps,
                     const Pace& pace, const Stamps& stamps, double now, const Out& out) {
    const auto held = g.lock();
    const SparseRows rows(starts, columns, values, g.model.features());
    const auto row_at = [&](std::size_t s) { return rows[s]; };
    return replay_n(g.model, rows.count, row_at, Y, steps, pace, stamps, now, out);
}

template <class Model>
void forget(Guarded<Model>& g, double discount) {
    const auto held = g.lock();
    g.model.forget(discount);
}

template <class Model>
void forget_rows(Guarded<Model>& g, const Vector& discount) {
    const auto held = g.lock();
    for (std::size_t t = 0; t < discount.size(); ++t) g.model.forget(discount.data()[t]);
}

template <class Model>
nb::tuple coefficients(Guarded<Model>& g) {
    const auto held = g.lock();
    const std::size_t m = g.model.outputs(), d = g.model.features();
    std::vector<double> coef(m * d), constant(m);
    g.model.coefficients(coef.data(), constant.data());
    return nb::make_tuple(to_array(std::move(coef), {m, d}), to_array(std::move(constant), {m}));
}

template <class Model>
nb::object variances(Guarded<Model>& g) {
    const auto held = g.lock();
    std::vector<double> P = g.model.variances();
    const std::size_t d = P.size();
    return to_array(std::move(P), {d});
}

template <class Model>
nb::dict state(Guarded<Model>& g) {
    const auto held = g.lock();
    const Model& s = g.model;
    StateReader reader;
    Model::fields(s.features(), s.outputs(), s.rank(), s.intercept(), &s, reader);
    return reader.state;
}

template <class Model>
void restore(Guarded<Model>& g, const nb::dict& state) {
    const auto held = g.lock();
    take_over(g.model, state, [](Model* s, auto& visit) {
        Model::fields(s->features(), s->outputs(), s->rank(), s->intercept(), s, visit);
    });
}

template <class Model>
void check(std::size_t features, std::size_t outputs, std::size_t rank, bool intercept,
           const nb::dict& state) {
    check_state(state, [&](auto& visit) {
        Model::template fields<Model>(features, outputs, rank, intercept, nullptr, visit);
    });
}

template <class Model>
void add_features(Guarded<Model>& g, std::size_t count) {
    const auto held = g.lock();
    g.model.add_features(count);
}

template <class Model>
void add_outputs(Guarded<Model>& g, std::size_t count) {
    const auto held = g.lock();
    g.model.add_outputs(count);
}

template <class Model>
void drop_output(Guarded<Model>& g, std::size_t k) {
    const auto held = g.lock();
    require(k < g.model.outputs(), "there is no such output");
    g.model.drop_output(k);
}

template <class Model>
std::size_t memory_bytes(Guarded<Model>& g) {
    const auto held = g.lock();
    return sizeof(Guarded<Model>) + g.model.memory_bytes();
}

template <class Model>
void bind_rows(nb::class_<Guarded<Model>>& c) {
    c.def("learn", &learn<Model>, "X"_a.noconvert(), "Y"_a.noconvert(), "discount"_a.noconvert(),
          "gain"_a.noconvert(), "out"_a.noconvert())
        .def("learn_sparse", &learn_sparse<Model>, "starts"_a.noconvert(), "columns"_a.noconvert(),
             "values"_a.noconvert(), "Y"_a.noconvert(), "discount"_a.noconvert(),
             "gain"_a.noconvert(), "out"_a.noconvert())
        .def("predict", &predict<Model>, "X"_a.noconvert(), "out"_a.noconvert())
        .def("predict_sparse", &predict_sparse<Model>, "starts"_a.noconvert(),
             "columns"_a.noconvert(), "values"_a.noconvert(), "out"_a.noconvert())
        .def("replay", &replay<Model>, "X"_a.noconvert(), "Y"_a.noconvert(), "steps"_a.noconvert(),
             "pace"_a, "stamps"_a.noconvert(), "now"_a, "out"_a.noconvert())
        .def("replay_sparse", &replay_sparse<Model>, "starts"_a.noconvert(),
             "columns"_a.noconvert(), "values"_a.noconvert(), "Y"_a.noconvert(),
             "steps"_a.noconvert(), "pace"_a, "stamps"_a.noconvert(), "now"_a, "out"_a.noconvert())
        .def("forget", &forget<Model>, "discount"_a)
        .def("forget", &forget_rows<Model>, "discount"_a.noconvert());
}

template <class Model>
void bind_state(nb::class_<Guarded<Model>>& c) {
    c.def("add_features", &add_features<Model>, "count"_a)
        .def("add_outputs", &add_outputs<Model>, "count"_a)
        .def("drop_output", &drop_output<Model>, "k"_a)
        .def("coefficients", &coefficients<Model>)
        .def("variances", &variances<Model>)
        .def("state", &state<Model>)
        .def("restore", &restore<Model>, "state"_a)
        .def_static("check_state", &check<Model>, "features"_a, "outputs"_a, "rank"_a,
                    "intercept"_a, "state"_a)
        .def_prop_ro("features", [](Guarded<Model>& g) { return g.model.features(); })
        .def_prop_ro("outputs", [](Guarded<Model>& g) { return g.model.outputs(); })
        .def_prop_ro("rank", [](Guarded<Model>& g) { return g.model.rank(); })
        .def_prop_ro("intercept", [](Guarded<Model>& g) { return g.model.intercept(); })
        .def_prop_ro("prior_variance", [](Guarded<Model>& g) { return g.model.prior_variance(); })
        .def_prop_ro("memory_bytes", &memory_bytes<Model>);
}

double error(Guarded<FrequentDirections>& g) {
    const auto held = g.lock();
    return g.model.error();
}

nb::object root(Guarded<FrequentDirections>& g) {
    const auto held = g.lock();
    const std::size_t width = g.model.intercept() + g.model.features();
    std::vector<double> A = g.model.root();
    const std::size_t rows = width > 0 ? A.size() / width : 0;
    return to_array(std::move(A), {rows, width});
}

}  // namespace

void bind_sketch(nb::module_& m) {
    nb::class_<Guarded<Sketch>> sketch(m, "Sketch");
    sketch.def("__init__", &make_sketch, "features"_a, "outputs"_a, "rank"_a, "intercept"_a,
               "prior_variance"_a, "cap"_a);
    bind_rows(sketch);
    bind_state(sketch);
    sketch.def_prop_ro("cap", [](Guarded<Sketch>& g) { return g.model.cap(); })
        .def_prop_ro("refreshes", [](Guarded<Sketch>& g) { return g.model.refreshes(); });

    nb::class_<Guarded<FrequentDirections>> directions(m, "FrequentDirections");
    directions.def("__init__", &make_directions, "features"_a, "outputs"_a, "rank"_a, "intercept"_a,
                   "prior_variance"_a);
    bind_rows(directions);
    bind_state(directions);
    directions.def_prop_ro("error", &error).def("root", &root);
}

}  // namespace dfop
