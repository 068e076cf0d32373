// How far beyond the known labels a number may be predicted while labels come late.
//
// A series with a trend leaves the range of the labels that are known when a row must be predicted,
// the farther the later labels are. So there is as much room at an end of the range as it has lately
// grown there, a label, times the labels that are under way; twice that, as growth itself may grow.
// A range also grows where single labels lie far out, and experts that go astray must not follow:
// there is room only where the last labels are near that end, and only as long as the mixture was
// better with room than without it, which is compared when the label comes.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include "fields.hpp"
#include "range.hpp"

namespace dfop {

class Room {
public:
    // A label that came so many labels after its row.
    void learn(const Range& before, double label, double between) {
        lateness_ = std::max(kLatenessDiscount * lateness_, between);
        const double discount = 1.0 - 1.0 / std::max(lateness_, kShortest);
        const bool known = before.labels > 0.0;
        above_ = discount * above_ + (known ? std::max(label - before.high, 0.0) : 0.0);
        below_ = discount * below_ + (known ? std::max(before.low - label, 0.0) : 0.0);
        labels_ = discount * labels_ + 1.0;
        recent_ += (known ? 1.0 / kShortest : 1.0) * (label - recent_);
    }
    // Errors of what was predicted without room and with it.
    void judge(double without, double with) {
        losses_[0] = kLossDiscount * losses_[0] + without * without;
        losses_[1] = kLossDiscount * losses_[1] + with * with;
    }
    void rescale(double shrink) {  // squared errors in the new unit are so much smaller
        for (double& loss : losses_) loss *= shrink;
    }
    bool open() const { return lateness_ > 0.0 && losses_[1] <= losses_[0]; }
    double above(const Range& range) const { return grown(above_, range, 1.0); }
    double below(const Range& range) const { return grown(below_, range, -1.0); }

    // As a Filter; both return the end.
    static constexpr std::size_t kPacked = 7;
    double* pack(double* to) const;
    const double* unpack(const double* from);

    template <class Self, class Visitor>
    static void fields(Self* self, Visitor&& visit) {
        visit.array({"above", {}, 0.0, kLargestSquare},
                    [=](std::size_t) -> auto& { return self->above_; });
        visit.array({"below", {}, 0.0, kLargestSquare},
                    [=](std::size_t) -> auto& { return self->below_; });
        visit.array({"labels", {}, 0.0, kMostRows},
                    [=](std::size_t) -> auto& { return self->labels_; });
        visit.array({"recent", {}, -kLargestSquare, kLargestSquare},
                    [=](std::size_t) -> auto& { return self->recent_; });
        visit.array({"lateness", {}, 0.0, kMostRows},
                    [=](std::size_t) -> auto& { return self->lateness_; });
        visit.array({"losses", {2}, 0.0, kLargestSquare},
                    [=](std::size_t i) -> auto& { return self->losses_[i]; });
    }

private:
    static constexpr double kGrowth = 2.0, kShortest = 50.0, kMost = 6.0;
    static constexpr double kLatenessDiscount = 0.999, kLossDiscount = 0.9975;

    // At an end of the range: 1 if the last labels lie there, 0 from the middle of the range on.
    double grown(double sum, const Range& range, double end) const {
        const double half = 0.5 * range.high - 0.5 * range.low;
        if (labels_ == 0.0 || half == 0.0) return 0.0;
        const double there = std::clamp(end * (recent_ - (range.low + half)) / half, 0.0, 1.0);
        return std::min(there * kGrowth * lateness_ * (sum / labels_), kMost * half);
    }

    double recent_ = 0.0;               // mean of the last labels
    double above_ = 0.0, below_ = 0.0;  // discounted sums of how far labels lay outside
    double labels_ = 0.0;               // discounted count
    double lateness_ = 0.0;             // labels between a row and its own, lately at most
    std::array<double, 2> losses_{};    // discounted squared errors, without room and with it
};

}  // namespace dfop
