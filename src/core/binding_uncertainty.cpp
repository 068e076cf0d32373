// The Python face of the parts that a bank of experts embeds, so that each can be run alone over
// arrays.
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <concepts>
#include <string>
#include <tuple>

#include "binding_state.hpp"
#include "calibration.hpp"
#include "error_record.hpp"
#include "intervals.hpp"
#include "moved.hpp"
#include "watch.hpp"

using namespace nanobind::literals;

namespace dfop {
namespace {

using Labels = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class Part, class Visitor>
    requires std::same_as<std::remove_const_t<Part>, Intervals>
void visit_fields(Part* part, Visitor& visit) {
    Intervals::fields(part->outputs(), part, visit);
}
template <class Part, class Visitor>
    requires std::same_as<std::remove_const_t<Part>, Calibration>
void visit_fields(Part* part, Visitor& visit) {
    Calibration::fields(part->classes(), part->curves(), part, visit);
}
template <class Part, class Visitor>
    requires std::same_as<std::remove_const_t<Part>, ErrorRecord>
void visit_fields(Part* part, Visitor& visit) {
    ErrorRecord::fields(part->experts(), part, visit);
}
template <class Part, class Visitor>
    requires std::same_as<std::remove_const_t<Part>, Watch>
void visit_fields(Part* part, Visitor& visit) {
    Watch::fields(part->features(), part->outputs(), part, visit);
}

template <class Part>
nb::dict state(const Part& part) {
    StateReader reader;
    visit_fields(&part, reader);
    return reader.state;
}

template <class Part>
void restore(Part& part, const nb::dict& state) {
    take_over(part, state, [](Part* next, auto& visit) { visit_fields(next, visit); });
}

// Of a part that has one size, or none.
template <class Part, class... Size>
nb::dict shapes(Size... size) {
    ShapeList list;
    Part::fields(size..., static_cast<Part*>(nullptr), list);
    return list.shapes;
}

// Half-widths before each row's error is seen, rows x outputs x levels.
nb::object track(Intervals& part, const Matrix& errors) {
    const std::size_t n = errors.shape(0), m = part.outputs();
    require(errors.shape(1) == m, "errors has the wrong number of columns");
    std::vector<double> widths(n * m * Intervals::kLevels);
    for (std::size_t t = 0; t < n; ++t) {
        part.half_widths(widths.data() + t * m * Intervals::kLevels);
        part.update(errors.data() + t * m);
    }
    return to_array(std::move(widths), {n, m, Intervals::kLevels});
}

// Goes through rows that come and targets that come, in their order; see Steps. Of every row it is
// put down what is said when it comes, and read when its target comes.
void replay(Intervals& part, const Matrix& errors, const StepArray& order, const Out& said) {
    const std::size_t n = errors.shape(0), m = part.outputs();
    require(errors.shape(1) == m, "errors has the wrong number of columns");
    require(said.shape(0) == n && said.shape(1) == part.said_size(), "said has the wrong shape");
    const Steps steps = steps_of(order, n);
    for (std::size_t i = 0; i < steps.count; ++i) {
        const std::int64_t step = steps.values[i];
        const auto s = static_cast<std::size_t>(step < 0 ? ~step : step);
        double* of_row = said.data() + s * said.shape(1);
        if (step < 0)
            part.update(errors.data() + s * m, of_row);
        else
            part.say(of_row);
    }
}

nb::object half_widths(const Intervals& part) {
    std::vector<double> widths(part.outputs() * Intervals::kLevels);
    part.half_widths(widths.data());
    return to_array(std::move(widths), {part.outputs(), Intervals::kLevels});
}

// Names of `Calibration::Curves`, in their order.
constexpr std::array<const char*, 3> kCurves{"apart", "of leads", "standard"};

Calibration::Curves curves_named(const std::string& name) {
    const auto found = std::find(kCurves.begin(), kCurves.end(), name);
    require(found != kCurves.end(), "curves are 'apart', 'of leads' or 'standard'");
    return static_cast<Calibration::Curves>(found - kCurves.begin());
}

nb::object probabilities(const Calibration& part, const Matrix& scores) {
    const std::size_t n = scores.shape(0), m = part.scores();
    require(scores.shape(1) == m, "scores has the wrong number of columns");
    std::vector<double> p(n * part.classes());
    for (std::size_t t = 0; t < n; ++t)
        part.probabilities(scores.data() + t * m, p.data() + t * part.classes());
    return to_array(std::move(p), {n, part.classes()});
}

// Probabilities before each row's label is seen.
nb::object calibrate(Calibration& part, const Matrix& scores, const Labels& labels) {
    const std::size_t n = scores.shape(0), m = part.scores();
    require(scores.shape(1) == m, "scores has the wrong number of columns");
    require(labels.shape(0) == n, "labels has the wrong length");
    for (std::size_t t = 0; t < n; ++t)
        require(
            labels.data()[t] >= 0 && static_cast<std::size_t>(labels.data()[t]) < part.classes(),
            "a label is none of the classes");
    std::vector<double> p(n * part.classes());
    for (std::size_t t = 0; t < n; ++t)
        part.calibrate(scores.data() + t * m, static_cast<std::size_t>(labels.data()[t]),
                       p.data() + t * part.classes());
    return to_array(std::move(p), {n, part.classes()});
}

// An alarm: the step at which it rang, how many rows ago the change began, its kind, and the
// columns that changed.
using Found = std::tuple<std::size_t, std::size_t, std::string, std::vector<std::size_t>>;

// Goes through rows that come and targets that come, in their order; see Steps.
std::vector<Found> watch(Watch& part, const Matrix& X, const Matrix& predicted,
                         const Matrix& targets, const StepArray& order) {
    const std::size_t n = X.shape(0), m = predicted.shape(1);
    require(X.shape(1) == part.features(), "X has the wrong number of columns");
    require(part.outputs() == 0 || part.outputs() == m, "one column per output is needed");
    require(predicted.shape(0) == n && targets.shape(0) == n && targets.shape(1) == m,
            "predicted and targets have the wrong shape");
    const Steps steps = steps_of(order, n);
    std::vector<Found> found;
    std::vector<double> error(m);
    for (std::size_t i = 0; i < steps.count; ++i) {
        const std::int64_t step = steps.values[i];
        const auto s = static_cast<std::size_t>(step < 0 ? ~step : step);
        const double *x = X.data() + s * X.shape(1), *made = predicted.data() + s * m;
        if (step >= 0) {
            if (part.arrive(x, made))
                found.emplace_back(i, InputAlarm::kRows, "inputs", part.inputs().rang());
            continue;
        }
        for (std::size_t o = 0; o < m; ++o) error[o] = targets.data()[s * m + o] - made[o];
        const Alarm::Result result = part.judge(x, made, error.data(), m);
        if (result.ring != Ring::none)
            found.emplace_back(i, result.rows, result.ring == Ring::jump ? "jump" : "errors",
                               std::vector<std::size_t>());
    }
    return found;
}

void add(ErrorRecord& part, const Matrix& squared_errors) {
    require(squared_errors.shape(1) == part.experts(), "one column per expert is needed");
    for (std::size_t t = 0; t < squared_errors.shape(0); ++t)
        part.update(squared_errors.data() + t * part.experts());
}

// The class of every row: see choice.hpp.
nb::object choose_classes(const Strided& outputs, bool margin) {
    const std::size_t n = outputs.shape(0), m = outputs.shape(1);
    require(m > 0 && (!margin || m == 1), "a margin is one output");
    auto* classes = new std::int64_t[n];
    nb::capsule owner(classes, [](void* p) noexcept { delete[] static_cast<std::int64_t*>(p); });
    for (std::size_t t = 0; t < n; ++t) {
        const double* row = outputs.data() + static_cast<std::ptrdiff_t>(t) * outputs.stride(0);
        const auto of = [&](std::size_t k) {
            return row[static_cast<std::ptrdiff_t>(k) * outputs.stride(1)];
        };
        classes[t] = static_cast<std::int64_t>(choose(of, m, margin));
    }
    return nb::cast(nb::ndarray<nb::numpy, std::int64_t>(classes, {n}, owner));
}

// The rows, of those seen, that are the first of a class which is not met: (row, class), in order.
nb::list first_rows(const StepArray& classes, const Truths& seen, const Truths& met) {
    require(seen.shape(0) == classes.shape(0), "seen must have one value per row");
    std::vector<unsigned char> known(met.size());
    for (std::size_t c = 0; c < known.size(); ++c) known[c] = met.data()[c];
    auto left = std::count(known.begin(), known.end(), 0);
    nb::list found;
    for (std::size_t t = 0; left > 0 && t < classes.size(); ++t) {
        const auto c = static_cast<std::size_t>(classes.data()[t]);
        require(c < known.size(), "a class of no number");
        if (known[c] || !seen.data()[t]) continue;
        known[c] = 1;
        --left;
        found.append(nb::make_tuple(t, c));
    }
    return found;
}

nb::object moved_weights(const Vector& fast, const Vector& slow, const Vector& variances,
                         double discount_fast, double discount_slow, double rows, double noise) {
    const std::size_t d = fast.shape(0);
    require(slow.shape(0) == d && variances.shape(0) == d,
            "fast, slow and variances must have one length");
    std::vector<double> z(d);
    moved(fast.data(), slow.data(), variances.data(), d, discount_fast, discount_slow, rows, noise,
          z.data());
    return to_array(std::move(z), {d});
}

void bind_watch(nb::module_& m) {
    nb::class_<Watch>(m, "Watch")
        .def(nb::init<std::size_t, std::size_t>(), "features"_a, "outputs"_a)
        .def_prop_ro("features", &Watch::features)
        .def_prop_ro("outputs", &Watch::outputs)
        .def_prop_ro("outliers",
                     [](const Watch& w) { return static_cast<std::size_t>(w.outliers()); })
        .def("add_features", &Watch::add_features, "count"_a)
        .def(
            "set_gaps",
            [](Watch& w, std::vector<std::int64_t> gaps) {
                require(gaps.size() == w.features(), "one number per feature is needed");
                w.set_gaps(std::move(gaps));
            },
            "gaps"_a)
        .def("watch", &watch, "X"_a.noconvert(), "predicted"_a.noconvert(), "targets"_a.noconvert(),
             "order"_a.noconvert())
        .def("state", &state<Watch>)
        .def("restore", &restore<Watch>, "state"_a)
        .def_static("shapes", &shapes<Watch, std::size_t, std::size_t>, "features"_a, "outputs"_a);
}

void bind_error_record(nb::module_& m) {
    nb::class_<ErrorRecord>(m, "ErrorRecord")
        .def(
            "__init__",
            [](ErrorRecord* record, std::size_t experts) {
                require(experts > 0, "a record needs at least one expert");
                new (record) ErrorRecord(experts);
            },
            "experts"_a)
        .def("add", &add, "squared_errors"_a.noconvert())
        .def("mean", [](const ErrorRecord& r) { return to_array(r.mean(), {r.experts()}); })
        .def("recent", [](const ErrorRecord& r) { return to_array(r.recent(), {r.experts()}); })
        .def("history",
             [](const ErrorRecord& r) { return to_array(r.history(), {r.pieces(), r.experts()}); })
        .def_prop_ro("experts", &ErrorRecord::experts)
        .def_prop_ro("rows",
                     [](const ErrorRecord& r) { return static_cast<std::size_t>(r.rows()); })
        .def_prop_ro(
            "piece_length",
            [](const ErrorRecord& r) { return static_cast<std::size_t>(r.piece_length()); })
        .def("state", &state<ErrorRecord>)
        .def("restore", &restore<ErrorRecord>, "state"_a)
        .def_static("shapes", &shapes<ErrorRecord, std::size_t>, "experts"_a);
}

}  // namespace

void bind_uncertainty(nb::module_& m) {
    nb::class_<Intervals>(m, "Intervals")
        .def(nb::init<std::size_t>(), "outputs"_a)
        .def_prop_ro("outputs", &Intervals::outputs)
        .def("track", &track, "errors"_a.noconvert())
        .def_prop_ro("said_size", &Intervals::said_size)
        .def("replay", &replay, "errors"_a.noconvert(), "order"_a.noconvert(), "said"_a.noconvert())
        .def("half_widths", &half_widths)
        .def("state", &state<Intervals>)
        .def("restore", &restore<Intervals>, "state"_a)
        .def_static("shapes", &shapes<Intervals, std::size_t>, "outputs"_a);
    m.attr("COVERAGES") = nb::tuple(
        nb::cast(std::vector<double>(Intervals::kCoverages.begin(), Intervals::kCoverages.end())));

    nb::class_<Calibration>(m, "Calibration")
        .def(
            "__init__",
            [](Calibration* part, std::size_t classes, const std::string& curves) {
                new (part) Calibration(classes, curves_named(curves));
            },
            "classes"_a, "curves"_a = kCurves.back())
        .def_prop_ro("classes", &Calibration::classes)
        .def_prop_ro(
            "curves",
            [](const Calibration& c) { return kCurves[static_cast<std::size_t>(c.curves())]; })
        .def("calibrate", &calibrate, "scores"_a.noconvert(), "labels"_a.noconvert())
        .def("probabilities", &probabilities, "scores"_a.noconvert())
        .def("add_classes", &Calibration::add_classes, "count"_a)
        .def("state", &state<Calibration>)
        .def("restore", &restore<Calibration>, "state"_a)
        .def_static(
            "shapes",
            [](std::size_t classes, const std::string& curves) {
                return shapes<Calibration>(classes, curves_named(curves));
            },
            "classes"_a, "curves"_a = kCurves.back());

    bind_watch(m);
    bind_error_record(m);
    m.def("choose", &choose_classes, "outputs"_a.noconvert(), "margin"_a);
    m.def("first_rows", &first_rows, "classes"_a.noconvert(), "seen"_a.noconvert(),
          "met"_a.noconvert());
    m.def("moved_weights", &moved_weights, "fast"_a.noconvert(), "slow"_a.noconvert(),
          "variances"_a.noconvert(), "discount_fast"_a, "discount_slow"_a, "rows"_a, "noise"_a);
}

}  // namespace dfop
