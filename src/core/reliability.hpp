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

    // What was said, the knots next to it, and what comes true of it.
    struct Said {
        double p;
        std::size_t low;
        double beyond, corrected;
    };
    Said say(double log_odds) const {
        const double p = logistic(log_odds), at = static_cast<double>(kPieces) * p;
        const std::size_t low = std::min(static_cast<std::size_t>(at), kPieces - 1);
        const double beyond = at - static_cast<double>(low);
        const double offset = (1.0 - beyond) * offsets_[low] + beyond * offsets_[low + 1];
        return {p, low, beyond, logistic(log_odds + offset)};
    }

    void update(const Said& said, bool right) {
        const double q = said.corrected, error = (right ? 1.0 : 0.0) - q;
        const double curvature = std::max(q * (1.0 - q), kLeastCurvature);
        for (double& weight : weights_) weight -= kForget * weight;
        learn(said.low, 1.0 - said.beyond, curvature, error);
        learn(said.low + 1, said.beyond, curvature, error);
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

    void learn(std::size_t knot, double share, double curvature, double error) {
        weights_[knot] += curvature * share;
        const double step = error * share / (kPrior + weights_[knot]);
        offsets_[knot] = std::clamp(offsets_[knot] + step, -kLargest, kLargest);
    }

    std::array<double, kKnots> offsets_{}, weights_{};
};

}  // namespace dfop
