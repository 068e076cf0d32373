// The Python face of the bank.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <tuple>

#include "bank.hpp"
#include "binding_state.hpp"

using namespace nanobind::literals;

namespace dfop {
namespace {

using GuardedBank = Guarded<Bank>;

// In the order of the enumerations.
constexpr const char* kMaps[] = {"linear", "fourier", "products", "sparse", "ranks"};
// A filter is named by the number of its map.
constexpr const char* kKinds[] = {
    "filter",   "no_change",      "quick_forest",    "careful_forest", "residual_forest",
    "majority", "gaussian_bayes", "histogram_bayes", "discriminant",   "prototypes",
    "given",    "sketch",         "additive",        "interactions"};
constexpr const char* kCodings[] = {"number", "margin", "one_hot"};

template <class Enum, std::size_t N>
Enum named(const char* const (&names)[N], const std::string& name) {
    for (std::size_t i = 0; i < N; ++i)
        if (name == names[i]) return static_cast<Enum>(i);
    throw nb::value_error(("there is no " + name).c_str());
}

// (coding, outputs), (coding, outputs, shadow) or (coding, outputs, shadow, late)
TargetDesign target_of(const nb::tuple& target) {
    require(target.size() >= 2 && target.size() <= 4, "a target is (coding, outputs)");
    const auto coding = nb::cast<std::string>(target[0]);
    const auto outputs = nb::cast<std::size_t>(target[1]);
    require(coding == "one_hot" || outputs == 1, "one output per target");
    return {named<Coding>(kCodings, coding), outputs,
            target.size() > 2 && nb::cast<bool>(target[2]),
            target.size() > 3 && nb::cast<bool>(target[3])};
}

using MapTuple = std::tuple<std::string, double, std::size_t>;
// What it is: a filter on the map of that number, or another kind by its name; mu; walk.
using ExpertTuple = std::tuple<std::variant<std::size_t, std::string>, double, double>;

ExpertDesign expert_of(const ExpertTuple& expert, std::size_t maps) {
    using enum ExpertDesign::Kind;
    const auto& [what, mu, walk] = expert;
    require(mu >= 0.0 && mu < 1.0 && walk >= 0.0, "an expert forgets in [0, 1) or walks");
    if (const auto* map = std::get_if<std::size_t>(&what)) {
        require(*map < maps, "there is no such map");
        return {filter, *map, mu, walk};
    }
    const auto kind = named<ExpertDesign::Kind>(kKinds, std::get<std::string>(what));
    require(kind != filter, "a filter is named by its map");
    require(walk == 0.0, "only filters walk");
    require(kind != histogram_bayes || mu == 0.0, "a histogram_bayes does not forget: mu is 0");
    require(kind != additive || mu == 0.0, "an additive model does not forget: mu is 0");
    return {kind, 0, mu, 0.0};
}

ExpertTuple tuple_of(const ExpertDesign& expert) {
    if (expert.kind == ExpertDesign::Kind::filter) return {expert.map, expert.mu, expert.walk};
    return {std::string(kKinds[static_cast<int>(expert.kind)]), expert.mu, expert.walk};
}

// A residual forest names the linear filter, or the sketch of one, that it corrects by its mu; that one comes before it.
std::size_t corrected(const BankDesign& design, const ExpertDesign& forest) {
    for (std::size_t k = 0; &design.experts[k] != &forest; ++k) {
        const ExpertDesign& expert = design.experts[k];
        const bool linear = expert.kind == ExpertDesign::Kind::filter &&
                            design.maps[expert.map].kind == FeatureMap::Kind::linear;
        const bool sketched = expert.kind == ExpertDesign::Kind::sketch;
        if ((linear || sketched) && expert.mu == forest.mu && expert.walk == 0.0) return k;
    }
    throw nb::value_error(
        "a residual_forest follows the linear filter or the sketch whose mu it has");
}

BankDesign design_of(const std::vector<nb::tuple>& targets, const std::vector<MapTuple>& maps,
                     const std::vector<ExpertTuple>& experts, bool intercept, bool bounded) {
    BankDesign design{{}, {}, {}, intercept, 1.0, false, 1.0, bounded};
    for (const nb::tuple& target : targets) design.targets.push_back(target_of(target));
    for (const auto& [kind, width, count] : maps)
        design.maps.push_back({named<FeatureMap::Kind>(kMaps, kind), width, count});
    for (const ExpertTuple& expert : experts)
        design.experts.push_back(expert_of(expert, maps.size()));
    require(!experts.empty(), "a bank needs an expert");
    for (ExpertDesign& expert : design.experts)
        if (expert.kind == ExpertDesign::Kind::residual_forest)
            expert.map = corrected(design, expert);
    std::size_t own = 0;
    for (ExpertDesign& expert : design.experts)
        if (expert.kind == ExpertDesign::Kind::given) expert.map = own++;
    return design;
}

void make(GuardedBank* g, std::size_t features, const std::vector<nb::tuple>& targets,
          const std::vector<MapTuple>& maps, const std::vector<ExpertTuple>& experts,
          bool intercept, double prior_variance, bool relative_prior, double cap, bool bounded) {
    BankDesign design = design_of(targets, maps, experts, intercept, bounded);
    design.prior_variance = prior_variance;
    design.relative_prior = relative_prior;
    design.cap = cap;
    new (g) GuardedBank{Bank(features, design), {}};
}

nb::dict shapes(std::size_t features, const std::vector<nb::tuple>& targets,
                const std::vector<MapTuple>& maps, const std::vector<ExpertTuple>& experts,
                bool intercept, bool bounded) {
    ShapeList list;
    const BankDesign design = design_of(targets, maps, experts, intercept, bounded);
    Bank::fields<Bank>(features, design, nullptr, list);
    return list.shapes;
}

void check(std::size_t features, const std::vector<nb::tuple>& targets,
           const std::vector<MapTuple>& maps, const std::vector<ExpertTuple>& experts,
           bool intercept, const nb::dict& state, bool bounded) {
    const BankDesign design = design_of(targets, maps, experts, intercept, bounded);
    check_state(state, [&](auto& visit) { Bank::fields<Bank>(features, design, nullptr, visit); });
}

nb::dict state(GuardedBank& g) {
    const auto held = g.lock();
    StateReader reader;
    const Bank& bank = g.model;
    Bank::fields(bank.features(), bank.design(), &bank, reader);
    return reader.state;
}

void restore(GuardedBank& g, const nb::dict& state) {
    const auto held = g.lock();
    take_over(g.model, state, [](Bank* bank, auto& visit) {
        Bank::fields(bank->features(), bank->design(), bank, visit);
    });
}

// Answers of experts outside: (rows, experts, outputs).
using MaybeGiven = std::optional<OfEach>;

const double* answers(const MaybeGiven& given, std::size_t n, const Bank& bank) {
    if (!given) return nullptr;
    require(
        given->shape(0) == n && given->shape(1) == bank.own() && given->shape(2) == bank.outputs(),
        "given has the wrong shape");
    return given->data();
}

void learn(GuardedBank& g, const Matrix& X, const Matrix& Y, const Vector& elapsed,
           const Vector& age, const Out& out, const MaybeGiven& given) {
    const std::size_t n = X.shape(0);
    const auto held = g.lock();
    require(X.shape(1) == g.model.features(), "X has the wrong number of columns");
    require(Y.shape(0) == n && Y.shape(1) == g.model.outputs(), "Y has the wrong shape");
    require(out.shape(0) == n && out.shape(1) == g.model.outputs(), "out has the wrong shape");
    const PerRow time = per_row(elapsed, n, "elapsed has the wrong length");
    const PerRow since = per_row(age, n, "age has the wrong length");
    const double* said = answers(given, n, g.model);
    nb::gil_scoped_release release;
    g.model.learn(X.data(), n, Y.data(), time, since, out.data(), nullptr, said);
}

void check_made(const Out& made, std::size_t n, const Bank& bank) {
    require(made.shape(0) == n && made.shape(1) == bank.made_size(), "made has the wrong shape");
}

void learn_made(GuardedBank& g, const Matrix& X, const Matrix& Y, const Vector& elapsed,
                const Vector& age, const Out& out, const Out& made, const MaybeGiven& given) {
    const std::size_t n = X.shape(0);
    const auto held = g.lock();
    require(X.shape(1) == g.model.features(), "X has the wrong number of columns");
    require(Y.shape(0) == n && Y.shape(1) == g.model.outputs(), "Y has the wrong shape");
    require(out.shape(0) == n && out.shape(1) == g.model.outputs(), "out has the wrong shape");
    check_made(made, n, g.model);
    const PerRow time = per_row(elapsed, n, "elapsed has the wrong length");
    const PerRow since = per_row(age, n, "age has the wrong length");
    const double* said = answers(given, n, g.model);
    nb::gil_scoped_release release;
    g.model.learn(X.data(), n, Y.data(), time, since, out.data(), made.data(), said);
}

void predict_given(GuardedBank& g, const Matrix& X, const Out& out, const OfEach& given) {
    const std::size_t n = X.shape(0);
    const auto held = g.lock();
    require(X.shape(1) == g.model.features(), "X has the wrong number of columns");
    require(out.shape(0) == n && out.shape(1) == g.model.outputs(), "out has the wrong shape");
    const double* said = answers(given, n, g.model);
    nb::gil_scoped_release release;
    g.model.predict(X.data(), n, out.data(), nullptr, said);
}

void predict_made(GuardedBank& g, const Matrix& X, const Out& out, const Out& made,
                  const MaybeGiven& given) {
    const std::size_t n = X.shape(0);
    const auto held = g.lock();
    require(X.shape(1) == g.model.features(), "X has the wrong number of columns");
    require(out.shape(0) == n && out.shape(1) == g.model.outputs(), "out has the wrong shape");
    check_made(made, n, g.model);
    const double* said = answers(given, n, g.model);
    nb::gil_scoped_release release;
    g.model.predict(X.data(), n, out.data(), made.data(), said);
}

void remake(GuardedBank& g, const Matrix& X, const Out& made) {
    const auto held = g.lock();
    require(X.shape(1) == g.model.features(), "X has the wrong number of columns");
    check_made(made, X.shape(0), g.model);
    nb::gil_scoped_release release;
    g.model.remake(X.data(), X.shape(0), made.data());
}

std::vector<bool> came_first(GuardedBank& g, const Out& made) {
    const auto held = g.lock();
    check_made(made, made.shape(0), g.model);
    std::vector<bool> first(made.shape(0));
    for (std::size_t t = 0; t < first.size(); ++t)
        first[t] = g.model.came_first(made.data() + t * made.shape(1));
    return first;
}

void forget(GuardedBank& g, double elapsed) {
    const auto held = g.lock();
    g.model.forget(elapsed);
}

void forget_rows(GuardedBank& g, const Vector& elapsed) {
    const auto held = g.lock();
    nb::gil_scoped_release release;
    for (std::size_t t = 0; t < elapsed.size(); ++t) g.model.forget(elapsed.data()[t]);
}

double replay(GuardedBank& g, const Matrix& X, const Matrix& Y, const StepArray& steps,
              const Vector& elapsed, const Stamps& stamps, double now, const Out& out,
              const Out& made, const MaybeGiven& given_first, const MaybeGiven& given_late) {
    const std::size_t n = X.shape(0);
    const auto held = g.lock();
    require(X.shape(1) == g.model.features(), "X has the wrong number of columns");
    require(Y.shape(0) == n && Y.shape(1) == g.model.outputs(), "Y has the wrong shape");
    require(out.shape(0) == n && out.shape(1) == g.model.outputs(), "out has the wrong shape");
    require(stamps.shape(0) == n, "stamps has the wrong length");
    const PerRow time = per_row(elapsed, n, "elapsed has the wrong length");
    check_made(made, n, g.model);
    const Steps order = steps_of(steps, n);
    const double* first = answers(given_first, n, g.model);
    const double* late = answers(given_late, n, g.model);
    nb::gil_scoped_release release;
    return g.model.replay(X.data(), Y.data(), order, time, stamps.data(), now, out.data(),
                          made.data(), first, late);
}

void add_features(GuardedBank& g, std::size_t count) {
    const auto held = g.lock();
    g.model.add_features(count);
}

void predict_each(GuardedBank& g, const Matrix& X, const OutOfEach& out) {
    const auto held = g.lock();
    const Bank& bank = g.model;
    require(X.shape(1) == bank.features(), "X has the wrong number of columns");
    require(out.shape(0) == bank.experts().size() && out.shape(1) == X.shape(0) &&
                out.shape(2) == bank.outputs(),
            "out has the wrong shape");
    nb::gil_scoped_release release;
    bank.predict_each(X.data(), X.shape(0), out.data());
}

nb::object weights(GuardedBank& g) {
    const auto held = g.lock();
    return to_array(g.model.weights(), {g.model.outputs(), g.model.experts().size()});
}

const Filter& filter_of(const Bank& bank, std::size_t k) {
    require(k < bank.experts().size(), "there is no such expert");
    const auto* expert = std::get_if<FilterExpert>(&bank.experts()[k]);
    require(expert != nullptr, "this expert is no filter");
    return expert->filter();
}

nb::object variances(GuardedBank& g, std::size_t k) {
    const auto held = g.lock();
    std::vector<double> P = filter_of(g.model, k).variances();
    const std::size_t d = P.size();
    return to_array(std::move(P), {d});
}

nb::object limited_rows(GuardedBank& g, std::size_t k) {
    const auto held = g.lock();
    return shown_count(filter_of(g.model, k).limited_rows());
}

void add_outputs(GuardedBank& g, std::size_t count) {
    const auto held = g.lock();
    const auto& targets = g.model.design().targets;
    require(!targets.empty() && targets.back().coding == Coding::one_hot,
            "only a one_hot target has classes that come later");
    g.model.add_outputs(count);
}

void add_number_targets(GuardedBank& g, std::size_t count) {
    const auto held = g.lock();
    require(!g.model.learned(), "targets cannot be added once labels were learned");
    g.model.add_number_targets(count);
}

void drop_first_target(GuardedBank& g) {
    const auto held = g.lock();
    require(!g.model.design().targets.empty(), "there is no target");
    g.model.drop_first_target();
}

void set_shadow(GuardedBank& g, std::size_t target, bool shadow) {
    const auto held = g.lock();
    require(target < g.model.design().targets.size(), "there is no such target");
    g.model.set_shadow(target, shadow);
}

nb::list targets_of(GuardedBank& g) {
    nb::list out;
    for (const TargetDesign& t : g.model.design().targets) {
        const char* coding = kCodings[static_cast<int>(t.coding)];
        if (t.late)
            out.append(nb::make_tuple(coding, t.outputs, t.shadow, true));
        else if (t.shadow)
            out.append(nb::make_tuple(coding, t.outputs, true));
        else
            out.append(nb::make_tuple(coding, t.outputs));
    }
    return out;
}

nb::tuple coefficients(GuardedBank& g, std::size_t k) {
    const auto held = g.lock();
    const Filter& filter = filter_of(g.model, k);
    const std::size_t m = filter.outputs(), d = filter.features();
    std::vector<double> coef(m * d), constant(m);
    filter.coefficients(coef.data(), constant.data());
    return nb::make_tuple(to_array(std::move(coef), {m, d}), to_array(std::move(constant), {m}));
}

nb::dict errors(GuardedBank& g) {
    const auto held = g.lock();
    const ErrorRecord& record = g.model.errors();
    const std::size_t K = record.experts();
    nb::dict out;
    out["rows"] = nb::float_(record.rows());
    out["piece_length"] = nb::float_(record.piece_length());
    out["mean"] = to_array(record.mean(), {K});
    out["recent"] = to_array(record.recent(), {K});
    out["history"] = to_array(record.history(), {record.pieces(), K});
    return out;
}

// What a bank was made with.
void bind_design(nb::class_<GuardedBank>& bank) {
    bank.def_prop_rw(
            "threads", [](GuardedBank& g) { return g.model.threads(); },
            [](GuardedBank& g, std::size_t threads) {
                const auto held = g.lock();
                require(threads >= 1 && threads <= ThreadPool::kMostThreads,
                        "threads must be 1 to 256");
                g.model.set_threads(threads);
            })
        .def_prop_ro("features", [](GuardedBank& g) { return g.model.features(); })
        .def_prop_ro("outputs", [](GuardedBank& g) { return g.model.outputs(); })
        .def_prop_ro("own", [](GuardedBank& g) { return g.model.own(); })
        .def_prop_ro("made_size", [](GuardedBank& g) { return g.model.made_size(); })
        .def_prop_ro("intercept", [](GuardedBank& g) { return g.model.design().intercept; })
        .def_prop_ro("prior_variance",
                     [](GuardedBank& g) { return g.model.design().prior_variance; })
        .def_prop_ro("relative_prior",
                     [](GuardedBank& g) { return g.model.design().relative_prior; })
        .def_prop_ro("cap", [](GuardedBank& g) { return g.model.design().cap; })
        .def_prop_ro("bounded", [](GuardedBank& g) { return g.model.design().bounded; })
        .def_prop_ro("targets", &targets_of)
        .def_prop_ro("maps",
                     [](GuardedBank& g) {
                         std::vector<std::tuple<std::string, double, std::size_t>> out;
                         for (const MapDesign& m : g.model.design().maps)
                             out.emplace_back(kMaps[static_cast<int>(m.kind)], m.width, m.count);
                         return out;
                     })
        .def_prop_ro("experts", [](GuardedBank& g) {
            std::vector<ExpertTuple> out;
            for (const ExpertDesign& e : g.model.design().experts) out.push_back(tuple_of(e));
            return out;
        });
}

}  // namespace

void bind_bank(nb::module_& m) {
    nb::class_<GuardedBank> bank(m, "Bank");
    bank.def("__init__", &make, "features"_a, "targets"_a, "maps"_a, "experts"_a, "intercept"_a,
             "prior_variance"_a, "relative_prior"_a, "cap"_a, "bounded"_a = false)
        .def("learn", &learn, "X"_a.noconvert(), "Y"_a.noconvert(), "elapsed"_a.noconvert(),
             "age"_a.noconvert(), "out"_a.noconvert(), "given"_a.noconvert() = nb::none())
        .def("predict", &predict<Bank>, "X"_a.noconvert(), "out"_a.noconvert())
        .def("predict", &predict_given, "X"_a.noconvert(), "out"_a.noconvert(),
             "given"_a.noconvert())
        .def("predict_each", &predict_each, "X"_a.noconvert(), "out"_a.noconvert())
        .def("learn_made", &learn_made, "X"_a.noconvert(), "Y"_a.noconvert(),
             "elapsed"_a.noconvert(), "age"_a.noconvert(), "out"_a.noconvert(),
             "made"_a.noconvert(), "given"_a.noconvert() = nb::none())
        .def("predict_made", &predict_made, "X"_a.noconvert(), "out"_a.noconvert(),
             "made"_a.noconvert(), "given"_a.noconvert() = nb::none())
        .def("came_first", &came_first, "made"_a.noconvert())
        .def("remake", &remake, "X"_a.noconvert(), "made"_a.noconvert())
        .def("replay", &replay, "X"_a.noconvert(), "Y"_a.noconvert(), "steps"_a.noconvert(),
             "pace"_a.noconvert(), "stamps"_a.noconvert(), "now"_a, "out"_a.noconvert(),
             "made"_a.noconvert(), "given_first"_a.noconvert() = nb::none(),
             "given_late"_a.noconvert() = nb::none())
        .def("forget", &forget, "elapsed"_a)
        .def("forget", &forget_rows, "elapsed"_a.noconvert())
        .def("add_outputs", &add_outputs, "count"_a)
        .def("add_number_targets", &add_number_targets, "count"_a)
        .def("drop_first_target", &drop_first_target)
        .def("set_shadow", &set_shadow, "target"_a, "shadow"_a)
        .def("add_features", &add_features, "count"_a)
        .def("weights", &weights)
        .def("coefficients", &coefficients, "expert"_a)
        .def("variances", &variances, "expert"_a)
        .def("limited_rows", &limited_rows, "expert"_a)
        .def("errors", &errors)
        .def("state", &state)
        .def("restore", &restore, "state"_a)
        .def_static("shapes", &shapes, "features"_a, "targets"_a, "maps"_a, "experts"_a,
                    "intercept"_a, "bounded"_a = false)
        .def_static("check_state", &check, "features"_a, "targets"_a, "maps"_a, "experts"_a,
                    "intercept"_a, "state"_a, "bounded"_a = false);
    bind_design(bank);
}

}  // namespace dfop
