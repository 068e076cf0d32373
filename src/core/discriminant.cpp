#include "discriminant.hpp"

#include <algorithm>
#include <cmath>

#include "class_rows.hpp"

namespace dfop {

void Discriminant::add_features(std::size_t count) {
    features_ += count;
    scatter_.add_features(count);
    for (auto* table : {&mean_, &direction_}) widen_rows(*table, weights_.size(), features_);
}

void Discriminant::add_classes(std::size_t count) {
    weights_.grow(count);
    for (auto* table : {&mean_, &direction_}) table->resize(weights_.size() * features_, 0.0);
    constant_.resize(weights_.size(), 0.0);
}

void Discriminant::predict(const LabelRow& row, double* p) const {
    for (std::size_t c = 0; c < weights_.size(); ++c) {
        if (!weights_.counts(c)) continue;
        const double* a = direction_.data() + c * features_;
        p[c] = weights_.logarithm(c) - constant_[c] +
               sum_of(features_, [&](std::size_t j) { return a[j] * row.z[j]; });
    }
    weights_.normalise(p);
}

void Discriminant::learn(const LabelRow& row, std::size_t c, double gain, const double*) {
    const double shrink = weights_.rescale();
    if (shrink != 1.0) {
        scatter_.scale(shrink);
        rows_ *= shrink;
    }
    const double weight = gain * weights_.unit(), before = weights_[c];
    weights_.add(c, weight);
    if (!weights_.counts(c)) return;  // too light to count
    double* mean = mean_.data() + c * features_;
    scatter_.raise_to(kLeastRows * weights_.unit());
    rows_ = std::max(rows_, kLeastRows * weights_.unit());
    if (before == 0.0) {
        std::copy_n(row.z, features_, mean);
    } else {
        const double share = weight / weights_[c];
        thread_local std::vector<double> gaps;
        gaps.resize(features_);
        for (std::size_t j = 0; j < features_; ++j) {
            gaps[j] = row.z[j] - mean[j];
            mean[j] += share * gaps[j];
        }
        scatter_.add(gaps.data(), before * share);
        rows_ += weight;
    }
    set_direction(c);
}

void Discriminant::set_direction(std::size_t c) {
    double* a = direction_.data() + c * features_;
    std::copy_n(mean_.data() + c * features_, features_, a);
    scatter_.solve(a);
    for (std::size_t j = 0; j < features_; ++j) {
        a[j] *= rows_;
        if (!(std::fabs(a[j]) <= kSteepest)) a[j] = 0.0;
    }
    derive(c);
}

void Discriminant::derive(std::size_t c) {
    const double *a = direction_.data() + c * features_, *m = mean_.data() + c * features_;
    constant_[c] = 0.5 * sum_of(features_, [&](std::size_t j) { return a[j] * m[j]; });
}

void Discriminant::settle() {
    weights_.settle();
    for (std::size_t c = 0; c < weights_.size(); ++c) derive(c);
}

}  // namespace dfop
