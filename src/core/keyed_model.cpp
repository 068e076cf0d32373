#include "keyed_model.hpp"

#include <algorithm>

namespace dfop {

KeyedModel::KeyedModel(const Filter& design, bool labels, std::size_t classes)
    : filter_(design), labels_(labels), ranks_(labels ? classes : 0, -1.0) {}

void KeyedModel::pack(double* record) const {
    filter_.pack(record);
    std::copy(ranks_.begin(), ranks_.end(), record + filter_.packed_size());
}

void KeyedModel::unpack(const double* record) {
    filter_.unpack(record);
    std::copy_n(record + filter_.packed_size(), ranks_.size(), ranks_.begin());
}

void KeyedModel::check() const {
    filter_.check();
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
    filter_.learn(X, n, {Y, static_cast<std::ptrdiff_t>(m), 1}, discount, gain, kNoWalk, yhat);
}

void KeyedModel::predict(const double* x, double* yhat, std::int32_t* ranks) const {
    filter_.predict(x, 1, yhat);
    show_ranks(ranks);
}

void KeyedModel::grow(std::size_t features, std::size_t classes) {
    if (features > 0) filter_.add_features(features);
    if (classes > 0) filter_.add_outputs(classes);
    ranks_.resize(ranks_.size() + classes, -1.0);
}

}  // namespace dfop
