// Features with mean 0 and variance 1, as far as the rows before can tell.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

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
            z[j] = spread > 0.0 ? std::clamp((x[j] - mean_[j]) / spread, -kFarthest, kFarthest)
                                : 0.0;
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

    std::vector<double> snapshot() const {
        std::vector<double> state{rows_};
        state.insert(state.end(), mean_.begin(), mean_.end());
        state.insert(state.end(), squares_.begin(), squares_.end());
        return state;
    }

    void restore(const std::vector<double>& state) {
        const std::size_t d = features();
        rows_ = state[0];
        std::copy_n(state.begin() + 1, d, mean_.begin());
        std::copy_n(state.begin() + 1 + static_cast<std::ptrdiff_t>(d), d, squares_.begin());
    }

    std::size_t state_size() const { return 1 + 2 * features(); }

private:
    static constexpr double kFarthest = 4.0, kLargestSum = 1e307;

    double rows_ = 0.0;
    std::vector<double> mean_, squares_;
};

}  // namespace dfop
