// Errors that stay above their own past for too long: one CUSUM over a = |e|, or over a = e^2.
//
// With mean and spread of a from the rows before,
//     z = min((a / mean - 1) / spread, cap),   S <- max(0, S + z / sqrt(V) - 0.7),   S > H rings.
// z has mean 0 and variance 1 whatever the noise is, and V is the variance of its sums in the long
// run (1 where rows do not depend on each other, more where large errors come in bursts), so one
// threshold serves all noises. While S > 0 the rows are under suspicion: they enter mean and spread only
// once S is back at 0, else a change would raise the measure that it is held against.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "fields.hpp"

namespace dfop {

struct RiseRule {
    bool squared;           // whether a is e^2
    double cap, threshold;  // of z, of S
    double square,
        largest_ratio;  // E a^2 / (E a)^2 of Gaussian errors; a row beyond that is drawn in
};
inline constexpr RiseRule kSizes{false, 6.0, 20.0, 1.5707963267948966, 10.0};
// Labels are wrong in runs: on Electricity a handful within twenty rows, and nothing changed, came to 20.
inline constexpr RiseRule kSizesOfLabels{false, 6.0, 22.0, 1.5707963267948966, 10.0};
inline constexpr RiseRule kSquares{true, 10.0, 35.0, 3.0, 100.0};

// What is believed of V, which is known from 500 rows.
struct Bursts {
    // How much of its rise counts while rows are under suspicion: a change raises it, and so does a
    // burst that is none.
    double suspected;
    // Up to here it counts as 1: chance makes it as large where rows do not depend on each other. From 1
    // above on it counts in full.
    double chance;
};
inline constexpr Bursts kBurstsOfNumbers{0.15, 1.6};
inline constexpr Bursts kBurstsOfLabels{0.3, 1.0};  // which are wrong in runs

class Rise {
public:
    static constexpr double kQuietRows = 100.0;  // to learn what is normal

    Rise(const RiseRule& rule, const Bursts& bursts)
        : rule_(&rule), bursts_(&bursts), trusted_(rule), latest_(rule) {}

    // The size |e| of one row's error. Only watches if `may_ring`.
    void update(double size, bool may_ring) {
        const bool watching = may_ring && rows_ >= kQuietRows;
        if (rows_ >= kQuietRows) {
            const double z = trusted_.standardised(size);
            if (watching) sum_ = std::max(0.0, sum_ + z / std::sqrt(long_run()) - kAllowance);
            rising_ = sum_ > 0.0 ? rising_ + 1.0 : 0.0;
            if (trusted_.level > kSmallest) correlate(z);  // what is never wrong has no bursts
        }
        latest_.update(size, std::max(kShare, kHaste / (rows_ + kHaste)), rows_ >= kQuietRows);
        if (sum_ == 0.0) trusted_ = latest_, trusted_variance_ = variance_;
        rows_ += 1.0;
    }

    bool rings() const { return sum_ > rule_->threshold; }
    // How many rows ago the errors began to rise, the last row included.
    double rising() const { return rising_; }

    // After an alarm everything starts afresh, but for V: bursts go on.
    void restart() {
        const double variance = variance_;
        *this = Rise(*rule_, *bursts_);
        variance_ = trusted_variance_ = variance;
    }

    template <class Self, class Visitor>
    static void fields(Self* self, Visitor&& visit) {
        visit.array({"rows", {}, 0.0, kMostRows},
                    [=](std::size_t) -> auto& { return self->rows_; });
        visit.array({"sum", {}, 0.0, kLargestSquare},
                    [=](std::size_t) -> auto& { return self->sum_; });
        visit.array({"rising", {}, 0.0, kMostRows},
                    [=](std::size_t) -> auto& { return self->rising_; });
        visit.array({"slow", {}, -10.0, 10.0}, [=](std::size_t) -> auto& { return self->slow_; });
        visit.array({"variance", {}, 1.0, kLargestLongRun},
                    [=](std::size_t) -> auto& { return self->variance_; });
        visit.array({"trusted_variance", {}, 1.0, kLargestLongRun},
                    [=](std::size_t) -> auto& { return self->trusted_variance_; });
        Normal::fields(self ? &self->trusted_ : nullptr, part_of(visit, "trusted"));
        Normal::fields(self ? &self->latest_ : nullptr, part_of(visit, "latest"));
    }

    void settle() const { hold(rising_ <= rows_, "rising: more rows than there were"); }

private:
    static constexpr double kAllowance = 0.7;
    static constexpr double kShare = 1.0 / 500;  // of a row in mean, spread and V
    static constexpr double kHaste = 3.0;        // at the start; above 1 forgets the first rows
    static constexpr double kSmallest = 1e-305;  // of the level
    static constexpr double kLeastVariance = 0.25;
    static constexpr double kCorrelatedRows = 150.0;  // before V is learned
    // The variance of a mean that takes 1/16 of every row is 1/31 where rows are independent.
    static constexpr double kSpan = 16.0, kIndependent = 31.0;
    static constexpr double kLargestStep = 90.0, kLargestLongRun = 30.0;

    // What is normal. The level is the mean of |e|, or the root of that of e^2: then no unit of the
    // errors is too small or too large.
    struct Normal {
        const RiseRule* rule;
        double level = 0.0, square;

        explicit Normal(const RiseRule& of) : rule(&of), square(of.square) {}

        template <class Self, class Visitor>
        static void fields(Self* self, Visitor&& visit) {
            visit.array({"level", {}, 0.0, kLargestSquare},
                        [=](std::size_t) -> auto& { return self->level; });
            visit.array({"square", {}, 0.0, kLargestSquare},
                        [=](std::size_t) -> auto& { return self->square; });
        }

        double ratio(double size, double most) const {
            const double plain = std::min(size / std::max(level, kSmallest), 1e3);
            return std::min(rule->squared ? plain * plain : plain, most);
        }

        double standardised(double size) const {
            const double spread = std::sqrt(std::max(square - 1.0, kLeastVariance));
            return std::min((ratio(size, 1e6) - 1.0) / spread, rule->cap);
        }

        void update(double size, double share, bool robust) {
            const double before = level, relative = ratio(size, rule->largest_ratio);
            const double taken =
                robust && before > kSmallest ? std::min(size, before * reach()) : size;
            level = rule->squared
                        ? std::hypot(std::sqrt(1.0 - share) * before, std::sqrt(share) * taken)
                        : before + share * (taken - before);
            if (before <= kSmallest) {
                square = rule->square;
            } else {
                const double shrink =
                    rule->squared ? (before / level) * (before / level) : before / level;
                // Errors that end for good leave a mean that vanishes faster than its square.
                square = std::min(
                    ((1.0 - share) * square + share * relative * relative) * shrink * shrink,
                    kLargestSquare);
            }
            level = std::max(level, kSmallest);
        }

        // One outlier must not blind the alarm: how many times the level it counts at most.
        double reach() const {
            return rule->squared ? std::sqrt(rule->largest_ratio) : rule->largest_ratio;
        }
    };

    double long_run() const {
        const double rise = bursts_->suspected * (variance_ - trusted_variance_);
        const double variance = trusted_variance_ + rise, above = variance - bursts_->chance;
        if (above >= 1.0) return variance;
        return 1.0 + bursts_->chance * std::max(above, 0.0);
    }

    void correlate(double z) {
        slow_ += (z - slow_) / kSpan;
        if (rows_ < kCorrelatedRows) return;
        const double step = std::min(kIndependent * slow_ * slow_, kLargestStep);
        variance_ = std::clamp(variance_ + kShare * (step - variance_), 1.0, kLargestLongRun);
    }

    const RiseRule* rule_;
    const Bursts* bursts_;
    double rows_ = 0.0, sum_ = 0.0, rising_ = 0.0, slow_ = 0.0, variance_ = 1.0,
           trusted_variance_ = 1.0;
    Normal trusted_, latest_;
};

}  // namespace dfop
