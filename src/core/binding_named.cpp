// Learners whose rows are dicts.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>

#include "bank.hpp"
#include "binding.hpp"
#include "dict_rows.hpp"
#include "means.hpp"

using namespace nanobind::literals;

namespace dfop {
namespace {

// Row by row, whatever learns: a filter with its discount, or a bank.
struct RowLearner {
    virtual ~RowLearner() = default;
    virtual std::unique_lock<std::mutex> lock() = 0;
    virtual std::size_t features() const = 0;
    virtual std::size_t outputs() const = 0;
    virtual void predict(const double* x, double* yhat) const = 0;
    virtual void learn(const double* x, const double* y, double* yhat) = 0;
    virtual void add_features(std::size_t count) = 0;
    virtual void add_outputs(std::size_t count) = 0;
};

template <class Model>
struct GuardedRows : RowLearner {
    Guarded<Model>& guarded;

    explicit GuardedRows(Guarded<Model>& g) : guarded(g) {}
    std::unique_lock<std::mutex> lock() override { return guarded.lock(); }
    std::size_t features() const override { return guarded.model.features(); }
    std::size_t outputs() const override { return guarded.model.outputs(); }
    void predict(const double* x, double* yhat) const override {
        guarded.model.predict(x, 1, yhat);
    }
    void add_features(std::size_t count) override { guarded.model.add_features(count); }
    void add_outputs(std::size_t count) override { guarded.model.add_outputs(count); }
};

constexpr double kOne = 1.0;

struct FilterRows : GuardedRows<Filter> {
    double discount;

    FilterRows(Guarded<Filter>& g, double lam) : GuardedRows(g), discount(lam) {}
    void learn(const double* x, const double* y, double* yhat) override {
        guarded.model.learn(x, 1, {y, 1, 1}, {&discount, 0}, {&kOne, 0}, kNoWalk, yhat);
    }
};

struct BankRows : GuardedRows<Bank> {
    using GuardedRows::GuardedRows;
    void learn(const double* x, const double* y, double* yhat) override {
        guarded.model.learn(x, 1, y, {&kOne, 0}, {&kZero, 0}, yhat);
    }
};

std::unique_ptr<RowLearner> rows_of(nb::handle owner, double discount) {
    if (nb::isinstance<Guarded<Bank>>(owner))
        return std::make_unique<BankRows>(nb::cast<Guarded<Bank>&>(owner));
    return std::make_unique<FilterRows>(nb::cast<Guarded<Filter>&>(owner), discount);
}

// Learning from dicts: a filter or a bank whose features are named, and may come and go. Rows of numbers
// under known names are read here; all others are coded by `coder` (`dfop.coding.RowCoder`).
struct NamedFilter {
    nb::object owner, coder;  // keep the learner and the means alive
    Means* means;
    double discount;
    std::unique_ptr<RowLearner> learner;
    DictRows rows;
    std::vector<double> yhat, targets;

    NamedFilter(nb::object filter, nb::object row_coder, double lam)
        : owner(std::move(filter)), coder(std::move(row_coder)),
          means(nb::cast<Means*>(coder.attr("means"))), discount(lam), learner(rows_of(owner, lam)),
          rows(nb::cast<nb::dict>(coder.attr("numbers"))) {
        require(means->size() == learner->features(), "the coder does not fit the filter");
    }

    // Codes a row that holds more than numbers under known names, if `learn` for good.
    void read_coded(nb::handle row, bool learn) {
        const auto coded = nb::cast<nb::tuple>(coder.attr("code_one")(row, learn));
        const auto columns = nb::cast<std::vector<std::size_t>>(coded[0]);
        const auto values = nb::cast<std::vector<double>>(coded[1]);
        if (learn) learner->add_features(means->size() - learner->features());
        rows.clear(learner->features());
        for (std::size_t i = 0; i < columns.size(); ++i) {
            require(columns[i] < learner->features(), "the coder does not fit the filter");
            rows.set(columns[i], values[i]);
        }
    }

    void predict_row(nb::handle row) {
        const auto held = learner->lock();
        if (!rows.read(row, learner->features())) read_coded(row, false);
        yhat.resize(learner->outputs());
        learner->predict(rows.values(), yhat.data());
    }

    // Reads a row that will be learned. The caller holds the lock.
    void take_row(nb::handle row) {
        if (rows.read(row, learner->features()))
            for (const std::size_t j : rows.columns()) means->add(j, rows.values()[j], 1.0);
        else
            read_coded(row, true);
    }

    void learn_taken() {
        yhat.resize(learner->outputs());
        learner->learn(rows.values(), targets.data(), yhat.data());
    }

    double predict_number(nb::handle row) {
        predict_row(row);
        return yhat[0];
    }

    void learn_number(nb::handle row, nb::handle y) { step_number(row, y); }

    // Predicts the row before its target is read, then learns it.
    double step_number(nb::handle row, nb::handle y) {
        const double target = to_number(y.ptr());
        if (!(std::fabs(target) <= kLargest))
            throw nb::value_error(("y is " + nb::cast<std::string>(nb::repr(y)) +
                                   ": y must be finite and below 2**500 in magnitude")
                                      .c_str());
        const auto held = learner->lock();
        take_row(row);
        targets.assign(1, target);
        learn_taken();
        return yhat[0];
    }

    std::vector<double> predict_outputs(nb::handle row) {
        predict_row(row);
        return yhat;
    }

    // Output k gets 1, all others 0; k = outputs opens a new output. Returns the prediction.
    std::vector<double> step_class(nb::handle row, std::size_t k) {
        const auto held = learner->lock();
        take_row(row);  // first: an error in the row must leave the outputs as they are
        if (k >= learner->outputs()) learner->add_outputs(k + 1 - learner->outputs());
        targets.assign(learner->outputs(), 0.0);
        targets[k] = 1.0;
        learn_taken();
        return yhat;
    }

    void add_outputs(std::size_t count) {
        const auto held = learner->lock();
        learner->add_outputs(count);
    }
};

}  // namespace

void bind_named(nb::module_& m) {
    nb::class_<NamedFilter>(m, "NamedFilter")
        .def(nb::init<nb::object, nb::object, double>(), "filter"_a, "coder"_a, "discount"_a)
        .def("predict_number", &NamedFilter::predict_number, "x"_a)
        .def("learn_number", &NamedFilter::learn_number, "x"_a, "y"_a.none())
        .def("step_number", &NamedFilter::step_number, "x"_a, "y"_a.none())
        .def("predict_outputs", &NamedFilter::predict_outputs, "x"_a)
        .def("step_class", &NamedFilter::step_class, "x"_a, "k"_a)
        .def("add_outputs", &NamedFilter::add_outputs, "count"_a)
        .def_ro("coder", &NamedFilter::coder)
        .def_ro("discount", &NamedFilter::discount)
        .def_ro("filter", &NamedFilter::owner);
}

}  // namespace dfop
