// How far a feature may be from all that was seen of it. A value far outside counts as the nearest
// one seen: a single wild one (a broken sensor, -9999 for nothing) must not coarsen the curves and
// the weights that thousands of rows have taught. Many of them soon widen what is believed.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "fields.hpp"
#include "filter.hpp"

namespace dfop {

// Of every feature, the range [low, high] of the values believed so far. A value is believed if it is
// not more than `room` ranges outside; each one that is not doubles the room, each one that is takes
// some of it back. A feature that never changed believes whatever comes.
class FeatureBounds {
public:
    explicit FeatureBounds(std::size_t features)
        : low_(features), high_(features), room_(features, kLeastRoom) {}

    std::size_t features() const { return low_.size(); }
    // As if they had been there, always 0.
    void add_features(std::size_t count) {
        low_.resize(low_.size() + count, 0.0);
        high_.resize(low_.size(), 0.0);
        room_.resize(low_.size(), kLeastRoom);
    }

    // Whether every value is believed.
    bool believe(const double* x) const {
        bool all = true;
        for (std::size_t j = 0; j < features(); ++j) all &= believes(j, x[j]);
        return all;
    }

    void draw_in(const double* x, double* to) const {
        for (std::size_t j = 0; j < features(); ++j)
            to[j] = believes(j, x[j]) ? x[j] : std::clamp(x[j], low_[j], high_[j]);
    }

    void learn(const double* x) {
        for (std::size_t j = 0; j < features(); ++j) {
            const bool believed = believes(j, x[j]);
            const double low = rows_ == 0.0 ? x[j] : std::min(low_[j], x[j]);
            const double high = rows_ == 0.0 ? x[j] : std::max(high_[j], x[j]);
            low_[j] = believed ? low : low_[j];
            high_[j] = believed ? high : high_[j];
            room_[j] = believed ? std::max(kLess * room_[j], kLeastRoom)
                                : std::min(2.0 * room_[j], kMostRoom);
        }
        rows_ = std::min(rows_ + 1.0, kTrusted);
    }

    template <class Self, class Visitor>
    static void fields(std::size_t features, Self* self, Visitor&& visit) {
        visit.array({"rows", {}, 0.0, kTrusted}, [=](std::size_t) -> auto& { return self->rows_; });
        visit.array({"low", {features}, -kLargest, kLargest},
                    [=](std::size_t j) -> auto& { return self->low_[j]; });
        visit.array({"high", {features}, -kLargest, kLargest},
                    [=](std::size_t j) -> auto& { return self->high_[j]; });
        visit.array({"room", {features}, kLeastRoom, kMostRoom},
                    [=](std::size_t j) -> auto& { return self->room_[j]; });
    }
    void settle() const {
        for (std::size_t j = 0; j < features(); ++j) hold(low_[j] <= high_[j], "low: above high");
    }

private:
    static constexpr double kLeastRoom = 3.0, kMostRoom = 0x1p1000;
    static constexpr double kLess = 63.0 / 64.0;
    static constexpr double kTrusted = 10.0;  // rows that are believed whatever they are

    bool believes(std::size_t j, double x) const {
        const double range = high_[j] - low_[j], reach = room_[j] * range;
        const bool inside = (x >= low_[j] - reach) & (x <= high_[j] + reach);
        return inside | (range == 0.0) | (rows_ < kTrusted);
    }

    double rows_ = 0.0;  // up to kTrusted
    std::vector<double> low_, high_, room_;
};

}  // namespace dfop
