#include "keyed_model.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace dfop {
namespace {

// From so many classes on each has an output that counts, and the margin does not.
constexpr std::size_t kMany = 3;

}  // namespace

KeyedModel::KeyedModel(Engine design, Targets targets)
    : engine_(std::move(design)), labels_(targets.labels), open_(targets.open),
      ranks_(targets.labels ? targets.classes : 0, -1.0) {}

void KeyedModel::pack(double* record) const {
    if (is_bank())
        bank().pack(record, late_);
    else
        std::get<Filter>(engine_).pack(record);
    if (labels_) std::copy(ranks_.begin(), ranks_.end(), record + packed_size());
}

void KeyedModel::unpack(const double* record) {
    if (is_bank())
        bank().unpack(record, late_);
    else
        std::get<Filter>(engine_).unpack(record);
    if (!labels_) return;
    std::copy_n(record + packed_size(), ranks_.size(), ranks_.begin());
    turn_to_classes();
}

void KeyedModel::check() const {
    std::visit([](const auto& engine) { engine.check(); }, engine_);
    double known = 0.0;
    for (const double rank : ranks_) known += rank != -1.0;
    for (double wanted = 0.0; wanted < known; ++wanted)
        hold(std::count(ranks_.begin(), ranks_.end(), wanted) == 1, "classes without an order");
}

std::size_t KeyedModel::met() const {
    return ranks_.size() - static_cast<std::size_t>(std::count(ranks_.begin(), ranks_.end(), -1.0));
}

void KeyedModel::turn_to_classes() {
    if (!ranked()) return;
    const bool many = met() >= kMany;
    bank().set_shadow(0, many);
    bank().set_shadow(1, !many);
}

KeyedModel::Engine KeyedModel::engine() const {
    if (!ranked()) return engine_;
    Bank own = bank();
    if (met() >= kMany) own.drop_first_target();
    while (open_ && own.design().targets.back().outputs > met() + 1) own.drop_last_output();
    return own;
}

void KeyedModel::show_ranks(std::int32_t* to) const {
    std::transform(ranks_.begin(), ranks_.end(), to,
                   [](double rank) { return static_cast<std::int32_t>(rank); });
}

// Classes that the key has not met come after those that it has; all of them are the same.
void KeyedModel::show(const double* yhat, const std::int32_t* ranks, double* shown) const {
    auto next = static_cast<std::size_t>(
        std::count_if(ranks, ranks + classes(), [](std::int32_t rank) { return rank >= 0; }));
    shown[0] = yhat[0];
    for (std::size_t c = 0; c < classes(); ++c)
        shown[1 + c] = yhat[1 + (ranks[c] < 0 ? next++ : static_cast<std::size_t>(ranks[c]))];
}

void KeyedModel::code(double label, double* y) {
    const auto chosen = static_cast<std::size_t>(label);
    double& rank = ranks_[chosen];
    if (rank < 0.0) rank = *std::max_element(ranks_.begin(), ranks_.end()) + 1.0;
    y[0] = rank == 0.0 ? -1.0 : rank == 1.0 ? 1.0 : 0.0;
    const std::size_t own = ranked() ? static_cast<std::size_t>(rank) : chosen;
    for (std::size_t k = 1; k < engine_outputs(); ++k) y[k] = k - 1 == own ? 1.0 : 0.0;
}

void KeyedModel::learn(const double* X, std::size_t n, const double* Y, PerRow discount,
                       PerRow gain, double* yhat, std::int32_t* ranks) {
    if (is_bank()) return learn_bank(X, n, Y, yhat, ranks);
    const std::size_t m = engine_outputs();
    if (labels_) {
        coded_.resize(n * m);
        for (std::size_t t = 0; t < n; ++t) {
            show_ranks(ranks + t * classes());
            code(Y[t], coded_.data() + t * m);
        }
        Y = coded_.data();
    }
    std::get<Filter>(engine_).learn(X, n, {Y, static_cast<std::ptrdiff_t>(m), 1}, discount, gain,
                                    kNoWalk, yhat);
}

// A bank whose experts have a pace of their own. The row that brings the third class is the last one
// that the margin predicts.
void KeyedModel::learn_bank(const double* X, std::size_t n, const double* Y, double* yhat,
                            std::int32_t* ranks) {
    constexpr PerRow once{&kFull, 0}, now{&kZero, 0};
    if (!labels_) return bank().learn(X, n, Y, once, now, yhat);
    const std::size_t m = engine_outputs(), d = features();
    coded_.resize(n * m);
    if (ranked()) ahead_.resize(n * m);
    double* ahead = ranked() ? ahead_.data() : yhat;
    for (std::size_t start = 0, end; start < n; start = end) {
        bool turns = false;
        for (end = start; end < n && !turns; ++end) {
            show_ranks(ranks + end * classes());
            const bool few = ranked() && met() < kMany;
            code(Y[end], coded_.data() + end * m);
            turns = few && met() >= kMany;
        }
        bank().learn(X + start * d, end - start, coded_.data() + start * m, once, now,
                     ahead + start * m);
        if (turns) turn_to_classes();
    }
    for (std::size_t t = 0; ranked() && t < n; ++t)
        show(ahead + t * m, ranks + t * classes(), yhat + t * outputs());
}

void KeyedModel::predict(const double* x, double* yhat, std::int32_t* ranks) const {
    show_ranks(ranks);
    if (!ranked()) {
        std::visit([&](const auto& engine) { engine.predict(x, 1, yhat); }, engine_);
        return;
    }
    ahead_.resize(engine_outputs());
    bank().predict(x, 1, ahead_.data());
    show(ahead_.data(), ranks, yhat);
}

// Until the third class the margin counts alone, then all classes that a bank apart would have.
std::size_t KeyedModel::made_size() const {
    const std::size_t size = bank().made_size();
    if (!ranked() || !open_ || !bank().design().targets[0].shadow) return size;
    const std::size_t outputs = bank().design().targets[1].outputs;
    return size / outputs * std::min(met() + 1, outputs);
}

std::size_t KeyedModel::most_made() const {
    if (!is_bank()) return 0;
    const std::size_t outputs = ranked() ? bank().design().targets[1].outputs : 1;
    const bool margin = ranked() && !bank().design().targets[0].shadow;
    return bank().made_size() * (margin ? outputs : 1);
}

// Brings what was made of a row into `made_`: of outputs that came since the same as of the last, which
// was a class yet to come, too; NaN, not known, where it was made of other outputs.
void KeyedModel::widen(MadeOfRow made) const {
    made_.assign(bank().made_size(), std::numeric_limits<double>::quiet_NaN());
    if (made.size != made_size()) return;
    std::copy_n(made.values, made.size, made_.begin());
    if (made.size == made_.size()) return;
    const std::size_t of_output = made_.size() / bank().design().targets[1].outputs;
    for (std::size_t i = made.size; i < made_.size(); ++i) made_[i] = made_[i - of_output];
}

std::size_t KeyedModel::arrive(const double* x, double discount, double* yhat, std::int32_t* ranks,
                               double* made) {
    if (!is_bank()) {
        predict(x, yhat, ranks);
        std::get<Filter>(engine_).forget(discount, 0.0);
        return 0;
    }
    show_ranks(ranks);
    ahead_.resize(engine_outputs());
    made_.resize(bank().made_size());
    bank().predict(x, 1, ahead_.data(), made_.data());
    if (ranked())
        show(ahead_.data(), ranks, yhat);
    else
        std::copy(ahead_.begin(), ahead_.end(), yhat);
    std::copy_n(made_.begin(), made_size(), made);
    bank().forget(1.0);
    return made_size();
}

std::int64_t KeyedModel::learn_late(const double* x, const double* y, double since,
                                    MadeOfRow made) {
    if (!is_bank()) {
        const double gain = std::exp(since);
        std::vector<double> unread(outputs());
        std::vector<std::int32_t> ranks(classes());
        learn(x, 1, y, kNoDiscount, {&gain, 0}, unread.data(), ranks.data());
        return 0;
    }
    const bool few = met() < kMany;
    coded_.resize(engine_outputs());
    ahead_.resize(engine_outputs());
    if (labels_) {
        code(y[0], coded_.data());
        y = coded_.data();
    }
    widen(made);
    const double age = std::max(since, 0.0);  // whatever a file says
    bank().learn(x, 1, y, {&kZero, 0}, {&age, 0}, ahead_.data(), made_.data());
    if (few) turn_to_classes();
    int exponent;
    const double labels = bank().errors().rows();
    return std::frexp(labels, &exponent) == 0.5 ? static_cast<std::int64_t>(labels) : 0;
}

void KeyedModel::remake(const double* x, MadeOfRow made) const {
    if (made.size != made_size()) return;
    widen(made);
    bank().remake(x, 1, made_.data());
    std::copy_n(made_.begin(), made.size, made.values);
}

KeyedModel::Growth KeyedModel::growth_to(const KeyedModel& wider) const {
    return {wider.features() - features(), wider.classes() - classes(),
            wider.engine_outputs() - engine_outputs(), wider.late_};
}

void KeyedModel::grow(const Growth& growth) {
    std::visit(
        [&](auto& engine) {
            if (growth.features > 0) engine.add_features(growth.features);
            if (growth.outputs > 0) engine.add_outputs(growth.outputs);
        },
        engine_);
    ranks_.resize(ranks_.size() + growth.classes, -1.0);
    late_ = late_ || growth.late;
}

}  // namespace dfop
