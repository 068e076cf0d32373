// Which weights moved: a fast expert against a slow one, in standard errors.
//
// Both learn the same rows, y = x'w + noise of variance s2, and weigh the row of age i by lam^i.
// With S = E xx' and sums over the ages 0 .. t-1 the difference of their weights has, while
// nothing moves, mean 0 and variance s2 S^-1 g,
//     g = A(f,f) + A(s,s) - 2 A(f,s),   A(a,b) = sum (lam_a lam_b)^i / (sum lam_a^i sum lam_b^i),
// and S^-1 = P_f sum lam_f^i. For t without end and a slow expert that never forgets,
// s2 S^-1 g = s2 P_f / (1 + lam_f).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "filter.hpp"

namespace dfop {

// 1 + lam + ... + lam^(rows-1)
inline double geometric_sum(double lam, double rows) {
    return lam < 1.0 ? -std::expm1(rows * std::log(lam)) / (1.0 - lam) : rows;
}

// z of each of `count` weights; `variances` are the diagonal of the fast expert's P.
inline void moved(const double* fast, const double* slow, const double* variances,
                  std::size_t count, double discount_fast, double discount_slow, double rows,
                  double noise, double* z) {
    const double f = geometric_sum(discount_fast, rows), s = geometric_sum(discount_slow, rows);
    const double g = geometric_sum(discount_fast * discount_fast, rows) / (f * f) +
                     geometric_sum(discount_slow * discount_slow, rows) / (s * s) -
                     2.0 * geometric_sum(discount_fast * discount_slow, rows) / (f * s);
    for (std::size_t j = 0; j < count; ++j) {
        const double error =
            std::sqrt(std::max(g * f, 0.0)) * std::sqrt(noise) * std::sqrt(variances[j]);
        const double gap = fast[j] - slow[j];
        // Without noise every difference is a movement, and none where there is no difference.
        z[j] = std::clamp(gap == 0.0 ? 0.0 : gap / error, -1e6, 1e6);
    }
}

}  // namespace dfop
