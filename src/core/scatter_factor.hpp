// A positive definite matrix S = L E L' that rows are added to, L unit lower triangular, E diagonal.
// Adding rows raises every E_j and cannot fail; a least E keeps S invertible while it fades.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "class_rows.hpp"
#include "fields.hpp"

namespace dfop {

class ScatterFactor {
public:
    // E of a feature that no row has had yet: the prior.
    explicit ScatterFactor(double prior) : unseen_(prior) {}

    std::size_t features() const { return E_.size(); }
    void add_features(std::size_t count) {
        const std::size_t before = features();
        E_.resize(before + count, unseen_);
        widen_rows(L_, before, features());
        L_.resize(features() * features(), 0.0);
    }

    // S <- S + weight r r' (Gill, Golub, Murray and Saunders 1974, method C1); r is spent.
    void add(double* r, double weight) {
        const std::size_t d = features();
        for (std::size_t j = 0; j < d && weight > 0.0; ++j) {
            const double p = r[j], before = E_[j];
            if (p == 0.0) continue;
            E_[j] = before + weight * p * p;
            const double step = weight * p / E_[j];
            weight *= before / E_[j];
            double* column = L_.data() + j * d;
            for (std::size_t i = j + 1; i < d; ++i) {
                r[i] -= p * column[i];
                column[i] += step * r[i];
            }
        }
    }

    void scale(double factor) {
        for (double& e : E_) e *= factor;
        unseen_ *= factor;
    }
    void raise_to(double least) {
        for (double& e : E_) e = std::max(e, least);
        unseen_ = std::max(unseen_, least);
    }

    // x <- S^-1 x
    void solve(double* x) const {
        const std::size_t d = features();
        for (std::size_t j = 0; j < d; ++j) {
            const double* column = L_.data() + j * d;
            for (std::size_t i = j + 1; i < d; ++i) x[i] -= x[j] * column[i];
        }
        for (std::size_t j = 0; j < d; ++j) x[j] /= E_[j];
        for (std::size_t j = d; j-- > 0;) {
            const double* below = L_.data() + j * d + j + 1;
            x[j] -= sum_of(d - j - 1, [&](std::size_t i) { return below[i] * x[j + 1 + i]; });
        }
    }

    template <class Self, class Visitor>
    static void fields(std::size_t features, Self* self, Visitor&& visit) {
        const std::size_t d = bounded_size(features);
        visit.array(
            {"lower", {d * (d - (d > 0)) / 2}, -kLargestRatio, kLargestRatio},
            [self, d, i = std::size_t{1}, j = std::size_t{0}](std::size_t) mutable -> auto& {
                auto& l = self->L_[j * d + i];  // l_ij, i > j, column by column
                if (++i == d) ++j, i = j + 1;
                return l;
            });
        visit.array({"E", {d}, kAbove0, kLargestSquare},
                    [=](std::size_t j) -> auto& { return self->E_[j]; });
        visit.array({"unseen", {}, kAbove0, kLargestSquare},
                    [=](std::size_t) -> auto& { return self->unseen_; });
    }

private:
    static constexpr double kLargestRatio = 1e150;

    double unseen_;
    std::vector<double> E_, L_;  // L column by column, its diagonal and what is above not used
};

}  // namespace dfop
