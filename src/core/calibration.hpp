// Probabilities from the raw scores of a classifier, calibrated while the stream runs.
//
// The score of a row is the lead of the predicted class: |margin| of two classes coded -1 and 1,
// else the largest score minus the second. How often the prediction is right given its lead is a
// logistic curve, one for each class that can be predicted,
//     P(right) = 1 / (1 + exp(-(a lead + b))),
// learned by Newton's step on the discounted logistic loss (Platt's scaling, online). What is left
// is divided among the other classes in proportion to their scores. The predicted class always
// keeps the largest probability: calibration says how sure, it does not decide.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "choice.hpp"
#include "fields.hpp"

namespace dfop {

class Calibration {
public:
    // Two classes have one score, the margin; more have one score each.
    explicit Calibration(std::size_t classes) : curves_(classes) {}

    std::size_t classes() const { return curves_.size(); }
    std::size_t scores() const { return classes() > 2 ? classes() : 1; }

    // Classes not seen before; what was learned of the others stays, as a lead means the same.
    void add_classes(std::size_t count) { curves_.resize(classes() + count); }

    // The class that the scores choose.
    std::size_t chosen(const double* s) const {
        if (classes() < 2) return 0;
        return choose([s](std::size_t k) { return s[k]; }, scores(), classes() == 2);
    }

    void probabilities(const double* s, double* p) const {
        if (classes() == 0) return;
        const std::size_t top = chosen(s);
        if (classes() == 1) {
            p[0] = 1.0;
            return;
        }
        double others = 0.0, largest = 0.0;
        for (std::size_t k = 0; k < classes(); ++k) {
            if (k == top) continue;
            p[k] = classes() == 2 ? 1.0 : kLeast + std::clamp(s[k], 0.0, 1.0);
            others += p[k];
            largest = std::max(largest, p[k]);
        }
        // The second class gets the share r of the rest; it stays behind if right > r / (1 + r).
        const double r = largest / others;
        // Where the curve says less than that, leads still tell rows apart.
        const double ahead = lead(s, top);
        const double least = (kAhead + kTilt * ahead) * r / (1.0 + r);
        const double right = std::max(curves_[top].at(ahead), least);
        for (std::size_t k = 0; k < classes(); ++k)
            p[k] = k == top ? right : (1.0 - right) * (p[k] / others);
    }

    void update(const double* s, std::size_t label) {
        if (classes() < 2) return;
        const std::size_t top = chosen(s);
        curves_[top].update(lead(s, top), top == label);
    }

    template <class Self, class Visitor>
    static void fields(std::size_t classes, Self* self, Visitor&& visit) {
        const auto list = [&](const char* name, double low, double high, double Curve::* member) {
            visit.array({name, {classes}, low, high},
                        [=](std::size_t k) -> auto& { return self->curves_[k].*member; });
        };
        list("slope", -1e3, 1e3, &Curve::slope);
        list("constant", -1e3, 1e3, &Curve::constant);
        // the curvature starts at the identity, and rows only add to it
        list("H11", 0.5, 1e6, &Curve::H11);
        list("H12", -1e6, 1e6, &Curve::H12);
        list("H22", 0.0, 1e6, &Curve::H22);
    }

    void settle() const {
        for (const Curve& c : curves_) {
            const double determinant = c.H11 * c.H22 - c.H12 * c.H12;
            hold(determinant >= 0.25 && determinant <= 1e12, "H12: a curvature that cannot be");
        }
    }

private:
    static constexpr double kForget = 0.005;        // of the curves, per row of the class
    static constexpr double kPrior = 1.0;           // weight of the start, which does not fade
    static constexpr double kLargestLead = 1.5;     // targets are 1 apart, or 2 (margins)
    static constexpr double kLargestWeight = 20.0;  // on separable streams the slope has no maximum
    static constexpr double kLeast = 0.01;          // of the other classes, before normalising
    static constexpr double kLeastCurvature = 1e-3;
    static constexpr double kAhead = 1.0 + 1e-9, kTilt = 1e-6;

    struct Curve {
        double slope = 2.0, constant = 0.0;
        double H11 = kPrior, H12 = 0.0, H22 = kPrior;  // curvature of the loss

        double at(double lead) const {
            return 1.0 / (1.0 + std::exp(-std::clamp(slope * lead + constant, -15.0, 15.0)));
        }

        void update(double lead, bool right) {
            const double p = at(lead), error = (right ? 1.0 : 0.0) - p;
            const double weight = std::max(p * (1.0 - p), kLeastCurvature);
            H11 += kForget * (kPrior - H11) + weight * lead * lead;
            H12 += -kForget * H12 + weight * lead;
            H22 += kForget * (kPrior - H22) + weight;
            const double scale = error / (H11 * H22 - H12 * H12);
            slope = bounded(slope + scale * (H22 * lead - H12));
            constant = bounded(constant + scale * (H11 - H12 * lead));
        }

        static double bounded(double w) { return std::clamp(w, -kLargestWeight, kLargestWeight); }
    };

    double lead(const double* s, std::size_t top) const {
        double second = classes() == 2 ? 0.0 : -kLargestLead + s[top];
        if (classes() > 2)
            for (std::size_t k = 0; k < classes(); ++k)
                if (k != top) second = std::max(second, s[k]);
        const double first = classes() == 2 ? std::fabs(s[0]) : s[top];
        return std::min(first - second, kLargestLead);
    }

    std::vector<Curve> curves_;
};

}  // namespace dfop
