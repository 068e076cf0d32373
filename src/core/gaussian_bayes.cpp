#include "gaussian_bayes.hpp"

#include <algorithm>
#include <cmath>

#include "class_rows.hpp"

namespace dfop {

void GaussianBayes::add_features(std::size_t count) {
    features_ += count;
    all_mean_.resize(features_, 0.0);
    all_squares_.resize(features_, 0.0);
    for (auto* table : {&mean_, &squares_, &variance_, &precision_})
        widen_rows(*table, weights_.size(), features_);
}

void GaussianBayes::add_classes(std::size_t count) {
    weights_.grow(count);
    for (auto* table : {&mean_, &squares_, &variance_, &precision_})
        table->resize(weights_.size() * features_, 0.0);
    constant_.resize(weights_.size(), 0.0);
}

void GaussianBayes::predict(const LabelRow& row, double* p) const {
    constexpr double kMost = kFarthest * kFarthest;
    for (std::size_t c = 0; c < weights_.size(); ++c) {
        if (!weights_.counts(c)) continue;
        const double* mean = mean_.data() + c * features_;
        const double* precision = precision_.data() + c * features_;
        const double distance = sum_of(features_, [&](std::size_t j) {
            const double gap = row.x[j] - mean[j];
            return std::min(gap * gap * precision[j], kMost);
        });
        p[c] = weights_.logarithm(c) + constant_[c] - 0.5 * distance;
    }
    weights_.normalise(p);
}

void GaussianBayes::learn(const LabelRow& row, std::size_t c, double gain, const double*) {
    rows_ *= weights_.rescale();
    const double weight = gain * weights_.unit();
    weights_.add(c, weight);
    if (!weights_.counts(c)) return;  // too light to count
    rows_ += weight;
    const std::size_t changing = changing_features();
    include(row.x, weight / rows_, all_mean_.data(), all_squares_.data());
    include(row.x, weight / weights_[c], mean_.data() + c * features_,
            squares_.data() + c * features_);
    if (changing_features() == changing) return set_variances(c);
    for (std::size_t k = 0; k < weights_.size(); ++k)
        if (weights_.counts(k)) set_variances(k);
}

std::size_t GaussianBayes::changing_features() const {
    return static_cast<std::size_t>(
        std::count_if(all_squares_.begin(), all_squares_.end(),
                      [](double squares) { return squares > kLeastVariance; }));
}

// Means and mean squares: no sum of them can become too large. `share` is the new row's.
void GaussianBayes::include(const double* x, double share, double* mean, double* squares) const {
    if (share >= 1.0) {
        std::copy_n(x, features_, mean);
        std::fill_n(squares, features_, 0.0);
        return;
    }
    for (std::size_t j = 0; j < features_; ++j) {
        const double gap = x[j] - mean[j];
        mean[j] += share * gap;
        squares[j] = (1.0 - share) * (squares[j] + share * gap * gap);
    }
}

void GaussianBayes::set_variances(std::size_t c) {
    const double own = weights_[c] / (weights_[c] + kPriorRows * weights_.unit());
    for (std::size_t j = 0; j < features_; ++j) {
        const double all = all_squares_[j];
        variance_[c * features_ + j] = all > kLeastVariance ? own * squares_[c * features_ + j] +
                                                                  (1.0 - own + kLeastShare) * all
                                                            : 0.0;
    }
    derive(c);
}

void GaussianBayes::derive(std::size_t c) {
    double sum = 0.0;
    for (std::size_t i = c * features_; i < (c + 1) * features_; ++i) {
        const bool counts = variance_[i] > 0.0;
        precision_[i] = counts ? 1.0 / variance_[i] : 0.0;
        if (counts) sum += std::log(variance_[i]);
    }
    constant_[c] = -0.5 * sum;
}

void GaussianBayes::settle() {
    weights_.settle();
    for (const double variance : variance_)
        hold(variance == 0.0 || variance > kLeastShare * kLeastVariance,
             "variance: smaller than any that counts");
    for (std::size_t c = 0; c < weights_.size(); ++c) derive(c);
}

}  // namespace dfop
