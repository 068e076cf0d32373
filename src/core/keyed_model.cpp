#include "keyed_model.hpp"

#include <algorithm>

namespace dfop {

KeyedModel::KeyedModel(Engine design, bool labels, std::size_t classes)
    : engine_(std::move(design)), labels_(labels), ranks_(labels ? classes : 0, -1.0) {}

void KeyedModel::pack(double* record) const {
    std::visit([&](const auto& engine) { engine.pack(record); }, engine_);
    if (labels_) std::copy(ranks_.begin(), ranks_.end(), record + packed_size());
}

void KeyedModel::unpack(const double* record) {
    std::visit([&](auto& engine) { engine.unpack(record); }, engine_);
    if (labels_) std::copy_n(record + packed_size(), ranks_.size(), ranks_.begin());
}

void KeyedModel::check() const {
    std::visit([](const auto& engine) { engine.check(); }, engine_);
    double met = 0.0;
    for (const double rank : ranks_) met += rank != -1.0;
    for (double wanted = 0.0; wanted < met; ++wanted)
        hold(std::count(ranks_.begin(), ranks_.end(), wanted) == 1, "classes without an order");
}

void KeyedModel::show_ranks(std::int32_t* to) const {
    std::transform(ranks_.begin(), ranks_.end(), to,
                   [](double rank) { return static_cast<std::int32_t>(rank); });
}

void KeyedModel::code(double label, double* y) {
    const auto chosen = static_cast<std::size_t>(label);
    double& rank = ranks_[chosen];
    if (rank < 0.0) rank = *std::max_element(ranks_.begin(), ranks_.end()) + 1.0;
    y[0] = rank == 0.0 ? -1.0 : rank == 1.0 ? 1.0 : 0.0;
    for (std::size_t k = 1; k < outputs(); ++k) y[k] = k - 1 == chosen ? 1.0 : 0.0;
}

void KeyedModel::learn(const double* X, std::size_t n, const double* Y, PerRow discount,
                       PerRow gain, double* yhat, std::int32_t* ranks) {
    const std::size_t m = outputs();
    if (labels_) {
        coded_.resize(n * m);
        for (std::size_t t = 0; t < n; ++t) {
            show_ranks(ranks + t * classes());
            code(Y[t], coded_.data() + t * m);
        }
        Y = coded_.data();
    }
    if (auto* filter = std::get_if<Filter>(&engine_))
        filter->learn(X, n, {Y, static_cast<std::ptrdiff_t>(m), 1}, discount, gain, kNoWalk, yhat);
    else  // whose experts have a pace of their own
        std::get<Bank>(engine_).learn(X, n, Y, {&kFull, 0}, {&kZero, 0}, yhat);
}

void KeyedModel::predict(const double* x, double* yhat, std::int32_t* ranks) const {
    std::visit([&](const auto& engine) { engine.predict(x, 1, yhat); }, engine_);
    show_ranks(ranks);
}

void KeyedModel::grow(std::size_t features, std::size_t classes) {
    std::visit(
        [&](auto& engine) {
            if (features > 0) engine.add_features(features);
            if (classes > 0) engine.add_outputs(classes);
        },
        engine_);
    ranks_.resize(ranks_.size() + classes, -1.0);
}

}  // namespace dfop
