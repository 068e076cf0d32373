// Columns given each other: how far the mean of a block of rows is, column by column, from what the
// other columns make of it.
//
// P is the inverse of the products of rows, of period 1000, the constant among the columns. Then
// (P x)_j / P_jj is what is left of x_j after a regression on all others: columns that change places show
// there even if each stays within its own range.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

#include "fields.hpp"
#include "filter.hpp"

namespace dfop {

class GivenOthers {
public:
    static constexpr std::size_t kRows = 16;  // of a block

    explicit GivenOthers(std::size_t features)
        : rows_(kRows * taken(features)),
          filter_(0, 0, true, kPriorVariance, true, std::numeric_limits<double>::infinity()) {
        filter_.add_features(taken(features));
        features_ = features;
    }

    // Where row t of the block is to stand; none where there are too many columns.
    double* room(std::size_t t) { return off() ? nullptr : rows_.data() + t * features_; }

    // Of the mean of the block, by the rows of the blocks before; 0 where there are too many columns.
    void residuals(double* out) const {
        if (off()) return;
        thread_local std::vector<double> mean;
        mean.assign(features_, 0.0);
        for (std::size_t t = 0; t < kRows; ++t)
            for (std::size_t j = 0; j < features_; ++j)
                mean[j] += rows_[t * features_ + j] * (1.0 / kRows);
        filter_.residuals(mean.data(), out);
    }

    void learn() {
        if (off()) return;
        filter_.learn(rows_.data(), kRows, {nullptr, 0, 0}, {&kDiscount, 0}, kFullGain, kNoWalk,
                      nullptr);
    }

    void add_features(std::size_t count) {  // as if they had been there, always 0
        GivenOthers next(0);
        next.features_ = features_ + count;
        if (!next.off()) {
            next.filter_ = filter_;
            next.filter_.add_features(count);
            next.rows_.resize(kRows * next.features_);
            for (std::size_t t = 0; t < kRows; ++t)
                std::copy_n(rows_.begin() + static_cast<std::ptrdiff_t>(t * features_), features_,
                            next.rows_.begin() + static_cast<std::ptrdiff_t>(t * next.features_));
        }
        *this = std::move(next);
    }

    template <class Self, class Visitor>
    static void fields(std::size_t features, Self* self, Visitor&& visit) {
        Filter::fields(taken(features), 0, true, self ? &self->filter_ : nullptr,
                       part_of(visit, "filter"));
        visit.array({"rows", {kRows, taken(features)}, -kLargestSquare, kLargestSquare},
                    [=](std::size_t i) -> auto& { return self->rows_[i]; });
    }
    void settle() {
        settle_part("filter", [&] { filter_.settle(); });
    }

private:
    static constexpr double kDiscount = 0.999, kPriorVariance = 3000.0;
    static constexpr std::size_t kMostFeatures = 100;  // above, it would cost more than the experts

    static std::size_t taken(std::size_t features) {
        return features <= kMostFeatures ? features : 0;
    }
    bool off() const { return taken(features_) == 0; }

    std::size_t features_ = 0;
    std::vector<double> rows_;
    Filter filter_;
};

}  // namespace dfop
