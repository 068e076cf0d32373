// A logistic regression that learns while the stream runs: P = 1 / (1 + exp(-w'x)), by
// Newton's step on the logistic loss of each row. The curvature H fades towards its start, `prior`
// on the diagonal: the larger that is, the slower the first rows move the weights.
// Loops are as short as N: unrolled by hand of the compiler, a row takes half the time.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace dfop {

inline double logistic(double log_odds) {
    return 1.0 / (1.0 + std::exp(-std::clamp(log_odds, -15.0, 15.0)));
}

template <std::size_t N>
struct LogisticCurve {
    using Row = std::array<double, N>;
    static constexpr std::size_t kEntries = N * (N + 1) / 2;

    Row w{};
    std::array<double, kEntries> H{};  // lower triangle, row by row

    LogisticCurve(const Row& prior, double first) : prior_(prior) {
        w[0] = first;
#pragma GCC unroll 3
        for (std::size_t i = 0; i < N; ++i) H[entry(i, i)] = prior[i];
    }

    double at(const Row& x) const {
        double sum = 0.0;
#pragma GCC unroll 3
        for (std::size_t i = 0; i < N; ++i) sum += w[i] * x[i];
        return sum;
    }

    // Learns from a row of which `p` was predicted; what was learned before fades by `forget`.
    void update(const Row& x, double p, bool right, double forget) {
        const double weight = std::max(p * (1.0 - p), kLeastCurvature);
#pragma GCC unroll 3
        for (std::size_t i = 0, e = 0; i < N; ++i)
#pragma GCC unroll 3
            for (std::size_t j = 0; j <= i; ++j, ++e)
                H[e] += forget * ((i == j ? prior_[i] : 0.0) - H[e]) + weight * x[i] * x[j];
        const Row step = solved(x);
        const double error = (right ? 1.0 : 0.0) - p;
#pragma GCC unroll 3
        for (std::size_t i = 0; i < N; ++i)
            w[i] = std::clamp(w[i] + error * step[i], -kLargestWeight, kLargestWeight);
    }

    // Whether H is what rows can have made of its start.
    bool possible() const {
        for (const double pivot : factor().pivots)
            if (!(pivot >= 0.25)) return false;
        return true;
    }

private:
    static constexpr double kLargestWeight = 20.0;  // on separable rows there is no maximum
    static constexpr double kLeastCurvature = 1e-3;

    static constexpr std::size_t entry(std::size_t i, std::size_t j) { return i * (i + 1) / 2 + j; }

    // H = L D L' with ones on the diagonal of L, which is filled up to its diagonal.
    struct Factor {
        std::array<Row, N> L{};
        Row pivots{}, inverse{};
    };
    Factor factor() const {
        Factor f;
#pragma GCC unroll 3
        for (std::size_t i = 0; i < N; ++i) {
            Row scaled{};  // row i of L D
#pragma GCC unroll 3
            for (std::size_t j = 0; j < i; ++j) {
                scaled[j] = H[entry(i, j)];
#pragma GCC unroll 3
                for (std::size_t k = 0; k < j; ++k) scaled[j] -= scaled[k] * f.L[j][k];
            }
            f.pivots[i] = H[entry(i, i)];
#pragma GCC unroll 3
            for (std::size_t j = 0; j < i; ++j) {
                f.L[i][j] = scaled[j] * f.inverse[j];
                f.pivots[i] -= scaled[j] * f.L[i][j];
            }
            f.inverse[i] = 1.0 / f.pivots[i];
        }
        return f;
    }

    Row solved(const Row& x) const {
        const Factor f = factor();
        Row z = x;
#pragma GCC unroll 3
        for (std::size_t i = 0; i < N; ++i)
#pragma GCC unroll 3
            for (std::size_t k = 0; k < i; ++k) z[i] -= f.L[i][k] * z[k];
#pragma GCC unroll 3
        for (std::size_t i = 0; i < N; ++i) z[i] *= f.inverse[i];
#pragma GCC unroll 3
        for (std::size_t i = N; i-- > 0;)
#pragma GCC unroll 3
            for (std::size_t k = i + 1; k < N; ++k) z[i] -= f.L[k][i] * z[k];
        return z;
    }

    Row prior_;
};

}  // namespace dfop
