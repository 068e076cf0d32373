// How far off the next prediction may be: half-widths that cover a given share of the errors.
//
// The score of a row is |e| over the running mean of |e|, both from before the row, so the
// half-widths follow the size of the errors at once. The quantile r of the score at coverage c is
// tracked in the logarithm,
//     log r += eta (1[|e| > r mean] - (1 - c)),
// hence after T rows, whatever they were, misses/T differs from 1 - c by (log r_T - log r_0)/(eta T)
// as long as r stays within its bounds (Gibbs and Candes 2021, for a step in the logarithm).
//
// An error is wild if it is more than 10 times as large as the widest half-width. A wild one counts as that
// much in the mean, so that one does little harm. Four in a row are no accident: the scale has changed, or
// errors were nothing for so long that mean and r have sunk. Then all begins anew, at the smallest
// of the four: half-widths become larger, and the identity holds from there on. Where it was an
// accident after all, four errors in a row that would not have been wild before, within 64 rows, bring the
// mean from before back.
//
// A target that comes late is judged by the half-width that its row was given, so that holds for it,
// too. While targets are under way nothing tells whether the last move was enough: with L of them the
// steps are 1 / (1 + L / 20) as large, and r does not swing. L is the most of late, not the row's own:
// in a batch all rows must count alike, those that are predicted far ahead and those that are not.
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

    // The errors of one row, one per output, and what was `said` of it when it came: nothing or NaN
    // if that is not known, or is what would be said now.
    void update(const double* errors, const double* said = nullptr) {
        if (said && std::isnan(said[0])) said = nullptr;
        lateness_ = std::max(kLatenessDiscount * lateness_, said ? rows_ - said[0] : 0.0);
        if (lateness_ < 1.0) lateness_ = 0.0;
        const double slower = 1.0 / (1.0 + lateness_ / kPatience);
        const Steps step = lateness_ > 0.0 ? steps_of(slower) : steps();
        // The first error, before anything was learned, is forgotten with the second.
        const double share = std::max(slower * kMeanShare, 1.0 / std::max(rows_, 1.0));
        // Before the first row nothing was said that could be right or wrong.
        if (said && !(said[0] > 0.0)) said = nullptr;
        const double* widths = said ? said + 1 : nullptr;
        for (Tracker& tracker : trackers_) {
            double size = std::fabs(*errors++);
            if (rows_ > 0.0) {
                // what the first error was is not known to be usual
                const double limit = rows_ > 1.0 ? kWild * tracker.widest() : kLargestError;
                double widest = 0.0;  // as half_widths gives it
                for (std::size_t l = 0; l < kLevels; ++l) {
                    widest = std::max(widest, tracker.ratio[l]);
                    const double half = widths ? *widths++ : widest * tracker.mean;
                    const double moved =
                        tracker.ratio[l] * (size > half ? step.up[l] : step.down[l]);
                    tracker.ratio[l] = std::clamp(moved, kSmallestRatio, kLargestRatio);
                }
                size = tracker.believed(size, limit);
            }
            tracker.mean += share * (size - tracker.mean);
        }
        rows_ += 1.0;
    }

    // What is said of a row that comes now: how many rows were known, and the half-widths.
    std::size_t said_size() const { return 1 + outputs() * kLevels; }
    void say(double* said) const {
        said[0] = rows_;
        half_widths(said + 1);
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
        visit.array({"mean", {outputs}, 0.0, kLargestError},
                    [=](std::size_t o) -> auto& { return self->trackers_[o].mean; });
        visit.array({"ratio", {outputs, kLevels}, 1e-6, 1e6}, [=](std::size_t i) -> auto& {
            return self->trackers_[i / kLevels].ratio[i % kLevels];
        });
        visit.array({"lateness", {}, 0.0, kMostRows},
                    [=](std::size_t) -> auto& { return self->lateness_; });
        visit.array({"wild", {outputs}, 0.0, kRun - 1.0},
                    [=](std::size_t o) -> auto& { return self->trackers_[o].wild; });
        visit.array({"least", {outputs}, 0.0, kLargestError},
                    [=](std::size_t o) -> auto& { return self->trackers_[o].least; });
        visit.array({"usual", {outputs}, 0.0, kLargestError},
                    [=](std::size_t o) -> auto& { return self->trackers_[o].usual; });
        visit.array({"small", {outputs}, 0.0, kRun - 1.0},
                    [=](std::size_t o) -> auto& { return self->trackers_[o].small; });
        visit.array({"left", {outputs}, 0.0, kAccident},
                    [=](std::size_t o) -> auto& { return self->trackers_[o].left; });
    }

    void settle() const {}

private:
    // Chosen on simulated streams: larger steps follow faster, and make the widths noisier.
    static constexpr double kMeanShare = 0.03;
    static constexpr double kStep = 0.05;
    static constexpr double kPatience = 20.0, kLatenessDiscount = 0.999;
    static constexpr double kWild = 10.0, kRun = 4.0, kAccident = 64.0;
    static constexpr double kLargestError = 0x1p502;
    // Streams that are predicted exactly for ever, or never, must not carry r out of range.
    static constexpr double kSmallestRatio = 1e-4, kLargestRatio = 1e4;

    // What a Gaussian has: quantiles of |e| over the mean of |e|.
    static constexpr std::array<double, kLevels> kStart{0.8453, 1.0548, 1.2990, 1.6062,
                                                        2.0615, 2.4564, 2.9156, 3.2283};

    struct Tracker {
        double mean = 0.0;
        std::array<double, kLevels> ratio = kStart;
        double wild = 0.0, least = 0.0;  // wild errors in a row up to now, and the smallest of them

        // The half-width of the highest level.
        double widest() const { return *std::max_element(ratio.begin(), ratio.end()) * mean; }

        // The mean before wild errors, errors in a row as they were then, and rows left to see them.
        double usual = 0.0, small = 0.0, left = 0.0;

        // As how large an error counts in the mean.
        double believed(double size, double limit) {
            if (size <= limit) {
                wild = least = 0.0;
                return left > 0.0 ? after_wild(size) : size;
            }
            small = 0.0;
            if (wild == 0.0 && left == 0.0) usual = mean;
            least = wild > 0.0 ? std::min(least, size) : size;
            wild += 1.0;
            if (wild < kRun) return limit;
            left = kAccident;
            mean = std::max(mean, least);
            ratio = kStart;
            wild = least = 0.0;
            return mean;
        }

        double after_wild(double size) {
            left -= 1.0;
            small = size <= kWild * kStart.back() * usual ? small + 1.0 : 0.0;
            if (small < kRun) return size;
            mean = usual;
            ratio = kStart;
            small = left = 0.0;
            return mean;
        }
    };
    struct Steps {
        std::array<double, kLevels> up, down;
    };

    static Steps steps_of(double share) {
        Steps s;
        for (std::size_t l = 0; l < kLevels; ++l) {
            s.up[l] = std::exp(share * kStep * kCoverages[l]);
            s.down[l] = std::exp(-share * kStep * (1.0 - kCoverages[l]));
        }
        return s;
    }
    static const Steps& steps() {
        static const Steps all = steps_of(1.0);
        return all;
    }

    double rows_ = 0.0;
    double lateness_ = 0.0;  // targets between a row and its own, lately at most
    std::vector<Tracker> trackers_;
};

}  // namespace dfop
