// Features with mean 0 and variance 1, as far as the rows before can tell.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "fields.hpp"

namespace dfop {

class Standardiser {
public:
    explicit Standardiser(std::size_t features) : mean_(features), squares_(features) {}

    std::size_t features() const { return mean_.size(); }
    // As if they had been there, always 0.
    void add_features(std::size_t count) {
        mean_.resize(features() + count, 0.0);
        squares_.resize(mean_.size(), 0.0);
    }

    // Far values are drawn in: what lies beyond was not seen often enough to learn a curve from.
    void standardise(const double* x, double* z) const {
        for (std::size_t j = 0; j < features(); ++j) {
            const double spread = std::sqrt(squares_[j] / std::max(rows_, 1.0));
            z[j] =
                spread > 0.0 ? std::clamp((x[j] - mean_[j]) / spread, -kFarthest, kFarthest) : 0.0;
        }
    }

    // Welford's recursion; a sum that overflows makes the feature 0 for good, and nothing else.
    void update(const double* x) {
        rows_ += 1.0;
        for (std::size_t j = 0; j < features(); ++j) {
            const double gap = x[j] - mean_[j];
            mean_[j] += gap / rows_;
            squares_[j] = std::min(squares_[j] + gap * (x[j] - mean_[j]), kLargestSum);
        }
    }

    template <class Self, class Visitor>
    static void fields(std::size_t features, Self* self, Visitor&& visit) {
        visit.array({"rows", {}, 0.0, kMostRows},
                    [=](std::size_t) -> auto& { return self->rows_; });
        visit.array({"mean", {features}, -0x1p500, 0x1p500},
                    [=](std::size_t j) -> auto& { return self->mean_[j]; });
        visit.array({"squares", {features}, 0.0, kLargestSum},
                    [=](std::size_t j) -> auto& { return self->squares_[j]; });
    }

private:
    static constexpr double kFarthest = 4.0, kLargestSum = 1e307;

    double rows_ = 0.0;
    std::vector<double> mean_, squares_;
};

}  // namespace dfop
