// How one class label is coded in the outputs of an expert: as a margin, as an output per class, or
// both side by side where a third class may come (a margin and, in its shadow, the classes).
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

#include "target.hpp"

namespace dfop {

struct LabelCode {
    static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

    bool margin = false;
    std::size_t one_hot = 0;  // outputs of classes
    std::size_t numbers = 0;  // outputs that are no label at all

    std::size_t outputs() const { return margin + one_hot + numbers; }
    // At least two, so that no statistics shrink when a margin goes.
    std::size_t classes() const { return numbers > 0 ? 0 : std::max<std::size_t>(one_hot, 2); }

    // The class of a row's labels, kNone where it is none of the known ones.
    std::size_t class_of(const double* labels) const {
        for (std::size_t c = 0; c < one_hot; ++c)
            if (labels[margin + c] > 0.5) return c;
        if (!margin || (labels[0] >= -0.5 && labels[0] <= 0.5)) return kNone;
        return labels[0] > 0.0;
    }

    // Predictions from how likely each class is.
    void write(const double* p, double* predictions) const {
        if (margin) *predictions++ = p[1] - p[0];
        for (std::size_t c = 0; c < one_hot; ++c) *predictions++ = p[c];
        for (std::size_t i = 0; i < numbers; ++i) *predictions++ = 0.0;
    }
};

// Whether a target belongs to the label before it: it is in the shadow of its margin.
inline bool joins_label(const LabelCode& last, const TargetDesign& target) {
    return last.margin && last.one_hot == 0 && target.coding == Coding::one_hot && target.shadow;
}

inline LabelCode code_of(const TargetDesign& target) {
    LabelCode code;
    if (target.coding == Coding::margin)
        code.margin = true;
    else
        (target.coding == Coding::one_hot ? code.one_hot : code.numbers) = target.outputs;
    return code;
}

inline std::vector<LabelCode> label_codes(const std::vector<TargetDesign>& targets) {
    std::vector<LabelCode> codes;
    for (const TargetDesign& target : targets) {
        if (!codes.empty() && joins_label(codes.back(), target))
            codes.back().one_hot = bounded_size(target.outputs);
        else
            codes.push_back(code_of(target));
    }
    return codes;
}

}  // namespace dfop
