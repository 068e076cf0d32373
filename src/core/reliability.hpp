// What a probability that was said is worth: how far what came true is from it, learned while the
// stream runs. A curve of few weights is off where its shape is wrong, always to the same side; here
// every probability answers for itself. To the log odds of p is added a line from knot to knot,
// 21 of them at p = 0, .05, ..., 1, each learned by Newton's step on the logistic loss of the rows next
// to it, by how near they are. What was learned fades over 2,000 rows of whatever probability.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "fields.hpp"
#include "logistic_curve.hpp"

namespace dfop {

class Reliability {
public:
    static constexpr std::size_t kPieces = 20, kKnots = kPieces + 1;

    // What comes true where `log_odds` are said.
    double corrected(double log_odds) const { return corrected(log_odds, near(log_odds)); }

    void update(double log_odds, bool right) {
        const Near at = near(log_odds);
        const double q = corrected(log_odds, at), error = (right ? 1.0 : 0.0) - q;
        const double curvature = std::max(q * (1.0 - q), kLeastCurvature);
        for (double& weight : weights_) weight -= kForget * weight;
        for (const auto& [knot, share] : {at.low, at.high}) {
            weights_[knot] += curvature * share;
            const double step = error * share / (kPrior + weights_[knot]);
            offsets_[knot] = std::clamp(offsets_[knot] + step, -kLargest, kLargest);
        }
    }

    template <class Self, class Visitor>
    static void fields(Self* self, Visitor&& visit) {
        visit.array({"offsets", {kKnots}, -kLargest, kLargest},
                    [=](std::size_t i) -> auto& { return self->offsets_[i]; });
        visit.array({"weights", {kKnots}, 0.0, kMostWeight},
                    [=](std::size_t i) -> auto& { return self->weights_[i]; });
    }

private:
    static constexpr double kForget = 0.0005;  // per row
    static constexpr double kPrior = 30.0;     // that what is said comes true
    static constexpr double kLeastCurvature = 0.02, kLargest = 3.0;
    static constexpr double kMostWeight = 1e3;  // no row adds more than 1/4

    struct Share {
        std::size_t knot;
        double share;
    };
    struct Near {
        Share low, high;
    };
    static Near near(double log_odds) {
        const double at = static_cast<double>(kPieces) * logistic(log_odds);
        const std::size_t knot = std::min(static_cast<std::size_t>(at), kPieces - 1);
        const double beyond = at - static_cast<double>(knot);
        return {{knot, 1.0 - beyond}, {knot + 1, beyond}};
    }

    double corrected(double log_odds, const Near& at) const {
        return logistic(log_odds + (at.low.share * offsets_[at.low.knot] +
                                    at.high.share * offsets_[at.high.knot]));
    }

    std::array<double, kKnots> offsets_{}, weights_{};
};

}  // namespace dfop
