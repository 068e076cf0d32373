// Sudden change: the squared errors stay above their own past for too long.
//
// With v = e^2, mean and spread of v from the rows before,
//     z = min((v - mean) / spread, 10),   S <- max(0, S + z - 0.7),   alarm when S > 35.
// z has mean 0 and variance 1 whatever the noise is, so one threshold serves them all. While S > 0
// the rows are under suspicion: they enter the mean and the spread only once S is back at 0, else a
// change would raise the measure that it is held against.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "fields.hpp"

namespace dfop {

class Alarm {
public:
    // One row's squared error (of several outputs in one unit: their sum). Returns how many rows
    // ago the errors began to rise, this row included; 0: no alarm. After one everything starts
    // afresh.
    std::size_t update(double squared_error) {
        const double v = std::min(squared_error, kLargestSquare);
        const bool watching = rows_ >= kQuietRows;
        if (watching) {
            sum_ = std::max(0.0, sum_ + trusted_.standardised(v) - kAllowance);
            rising_ = sum_ > 0.0 ? rising_ + 1.0 : 0.0;
            if (sum_ > kThreshold) {
                const auto rows = static_cast<std::size_t>(rising_);
                *this = Alarm();
                return rows;
            }
        }
        latest_.update(v, std::max(kShare, kHaste / (rows_ + kHaste)), watching);
        if (sum_ == 0.0) trusted_ = latest_;
        rows_ += 1.0;
        return 0;
    }

    template <class Self, class Visitor>
    static void fields(Self* self, Visitor&& visit) {
        visit.array({"rows", {}, 0.0, kMostRows},
                    [=](std::size_t) -> auto& { return self->rows_; });
        visit.array({"sum", {}, 0.0, 1e3}, [=](std::size_t) -> auto& { return self->sum_; });
        visit.array({"rising", {}, 0.0, kMostRows},
                    [=](std::size_t) -> auto& { return self->rising_; });
        Moments::fields(self ? &self->trusted_ : nullptr, part_of(visit, "trusted"));
        Moments::fields(self ? &self->latest_ : nullptr, part_of(visit, "latest"));
    }

    void settle() const { hold(rising_ <= rows_, "rising: more rows than there were"); }

private:
    static constexpr double kAllowance = 0.7, kThreshold = 35.0, kLargestZ = 10.0;
    static constexpr double kQuietRows = 100.0;  // to learn what is normal
    static constexpr double kShare = 1.0 / 500;  // of a row in mean and spread
    static constexpr double kHaste = 3.0;        // at the start; above 1 forgets the first rows
    static constexpr double kSmallestMean = 1e-290;
    static constexpr double kLargestRatio = 100.0;  // one outlier must not blind the alarm
    static constexpr double kLeastVariance = 0.25;

    // Mean of v, and mean of v^2 in units of its square: v^2 itself could overflow.
    struct Moments {
        double mean = 0.0, square = kGaussian;

        static constexpr double kGaussian = 3.0;

        template <class Self, class Visitor>
        static void fields(Self* self, Visitor&& visit) {
            visit.array({"mean", {}, 0.0, kLargestSquare},
                        [=](std::size_t) -> auto& { return self->mean; });
            visit.array({"square", {}, 0.0, kLargestSquare},
                        [=](std::size_t) -> auto& { return self->square; });
        }

        double standardised(double v) const {
            const double ratio = std::min(v / std::max(mean, kSmallestMean), 1e6);
            return std::min((ratio - 1.0) / std::sqrt(std::max(square - 1.0, kLeastVariance)),
                            kLargestZ);
        }

        void update(double v, double share, bool robust) {
            if (mean <= kSmallestMean) {
                mean = std::max(kSmallestMean, mean + share * (v - mean));
                square = kGaussian;
                return;
            }
            const double ratio = std::min(v / mean, kLargestRatio);
            const double next = mean + share * ((robust ? ratio * mean : v) - mean);
            const double before = mean / next;
            // Errors that end for good leave a mean that vanishes faster than its square.
            square = std::min(((1.0 - share) * square + share * ratio * ratio) * before * before,
                              kLargestSquare);
            mean = next;
        }
    };

    double rows_ = 0.0, sum_ = 0.0, rising_ = 0.0;
    Moments trusted_, latest_;
};

}  // namespace dfop
