// The range of the labels of a target, and what a prediction may be within it.
#pragma once

#include <cstddef>

#include "fields.hpp"
#include "filter.hpp"
#include "target.hpp"

namespace dfop {

// The labels seen so far, and the power of two not below half their range: errors are measured
// in it, so that nothing depends on the unit of the labels and no digit is lost.
struct Range {
    double low = 0.0, high = 0.0, unit = 0.0;
    double labels = 0.0;              // how many, up to kTrusted
    double margin = 0.0;              // by which predictions may leave the range, as a share of it
    double above = 0.0, below = 0.0;  // or by that much, see Room

    static constexpr double kTrusted = 10.0;  // labels tell their range from here on

    static Range of(Coding);
    double clip(double value) const;  // with room
    double clip_closely(double value) const;
    // A label far out counts as one that is three ranges out: one of them must not decide what
    // thousands of rows have taught, and many of them soon widen the range.
    double bounded(double label) const;
    void include(double label);

    template <class Self, class Visitor>
    static void fields(Self* self, Visitor&& visit) {
        visit.array({"low", {}, -kLargest, kLargest},
                    [=](std::size_t) -> auto& { return self->low; });
        visit.array({"high", {}, -kLargest, kLargest},
                    [=](std::size_t) -> auto& { return self->high; });
        visit.array({"unit", {}, 0.0, kLargest}, [=](std::size_t) -> auto& { return self->unit; });
        visit.array({"labels", {}, 0.0, kTrusted},
                    [=](std::size_t) -> auto& { return self->labels; });
    }
    void settle(Coding) const;
};

}  // namespace dfop
