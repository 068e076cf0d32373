// How far off the next prediction may be: half-widths that cover a given share of the errors.
//
// The score of a row is |e| over the running mean of |e|, both from before the row, so the
// half-widths follow the size of the errors at once. The quantile r of the score at coverage c is
// tracked in the logarithm,
//     log r += eta (1[|e| > r mean] - (1 - c)),
// hence after T rows, whatever they were, misses/T differs from 1 - c by (log r_T - log r_0)/(eta T)
// as long as r stays within its bounds (Gibbs and Candes 2021, for a step in the logarithm).
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "fields.hpp"

namespace dfop {

class Intervals {
public:
    static constexpr std::size_t kLevels = 8;
    static constexpr std::array<double, kLevels> kCoverages{.5, .6, .7, .8, .9, .95, .98, .99};

    explicit Intervals(std::size_t outputs) : trackers_(outputs) {}

    // The errors of one row, one per output.
    void update(const double* errors) {
        const Steps& step = steps();
        const double share = std::max(kMeanShare, 1.0 / (rows_ + 1.0));
        for (Tracker& tracker : trackers_) {
            const double size = std::fabs(*errors++);
            if (rows_ > 0.0) {
                double widest = 0.0;  // as half_widths gives it
                for (std::size_t l = 0; l < kLevels; ++l) {
                    widest = std::max(widest, tracker.ratio[l]);
                    const double moved = tracker.ratio[l] *
                                         (size > widest * tracker.mean ? step.up[l] : step.down[l]);
                    tracker.ratio[l] = std::clamp(moved, kSmallestRatio, kLargestRatio);
                }
            }
            tracker.mean += share * (size - tracker.mean);
        }
        rows_ += 1.0;
    }

    // outputs x kLevels; a higher coverage never has the smaller half-width. Infinite before the
    // first row.
    void half_widths(double* out) const {
        for (const Tracker& tracker : trackers_) {
            double widest = 0.0;
            for (std::size_t l = 0; l < kLevels; ++l) {
                widest = std::max(widest, tracker.ratio[l]);
                *out++ =
                    rows_ > 0.0 ? widest * tracker.mean : std::numeric_limits<double>::infinity();
            }
        }
    }

    std::size_t outputs() const { return trackers_.size(); }

    template <class Self, class Visitor>
    static void fields(std::size_t outputs, Self* self, Visitor&& visit) {
        visit.array({"rows", {}, 0.0, kMostRows},
                    [=](std::size_t) -> auto& { return self->rows_; });
        visit.array({"mean", {outputs}, 0.0, 0x1p502},
                    [=](std::size_t o) -> auto& { return self->trackers_[o].mean; });
        visit.array({"ratio", {outputs, kLevels}, 1e-6, 1e6}, [=](std::size_t i) -> auto& {
            return self->trackers_[i / kLevels].ratio[i % kLevels];
        });
    }

    void settle() const {}

private:
    // Chosen on simulated streams: larger steps follow faster, and make the widths noisier.
    static constexpr double kMeanShare = 0.03;
    static constexpr double kStep = 0.05;
    // Streams that are predicted exactly for ever, or never, must not carry r out of range.
    static constexpr double kSmallestRatio = 1e-4, kLargestRatio = 1e4;

    // What a Gaussian has: quantiles of |e| over the mean of |e|.
    static constexpr std::array<double, kLevels> kStart{0.8453, 1.0548, 1.2990, 1.6062,
                                                        2.0615, 2.4564, 2.9156, 3.2283};

    struct Tracker {
        double mean = 0.0;
        std::array<double, kLevels> ratio = kStart;
    };
    struct Steps {
        std::array<double, kLevels> up, down;
    };

    static const Steps& steps() {
        static const Steps all = [] {
            Steps s;
            for (std::size_t l = 0; l < kLevels; ++l) {
                s.up[l] = std::exp(kStep * kCoverages[l]);
                s.down[l] = std::exp(-kStep * (1.0 - kCoverages[l]));
            }
            return s;
        }();
        return all;
    }

    double rows_ = 0.0;
    std::vector<Tracker> trackers_;
};

}  // namespace dfop
