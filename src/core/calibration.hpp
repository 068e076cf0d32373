// Probabilities from the raw scores of a classifier, calibrated while the stream runs.
//
// The score of a row is the lead of the predicted class: |margin| of two classes coded -1 and 1,
// else the largest score minus the second. Where all but one class are rare, leads are nearly the same, and
// what tells rows apart is small. So leads are standardised, z = (lead - mean)/deviation, with what leads have
// lately; where nothing is rare both are 1/2, as leads grow while scores are learned. How often the
// prediction is right given z is a logistic curve that all classes share, and what the class predicted
// adds to it:
//     log odds of right = a z + b + c z^2/(1 + |z|) + a_k z + b_k,
// learned by Newton's step on the discounted logistic loss (Platt's scaling, online). Every row
// teaches the shared curve, so that a class with few rows is as well off as one with many. What was
// learned fades the more slowly the fewer labels are not of the most frequent class: of rare
// events the last 400 rows hold too few, and curves that follow each of them lose the order of rows. Where the
// curve says too much or too little of the same leads for long, it is corrected (reliability.hpp). What is
// left is divided among the other classes in proportion to their scores. The predicted class always
// keeps the largest probability: calibration says how sure, it does not decide.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "choice.hpp"
#include "fields.hpp"
#include "logistic_curve.hpp"
#include "reliability.hpp"

namespace dfop {

class Calibration {
public:
    // Of models of before: each class has a whole curve of its own, and nothing corrects it; curves
    // of leads as they are, which fade alike whatever is rare. These go on with what they have.
    enum class Curves { apart, of_leads, standard };

    // Two classes have one score, the margin; more have one score each.
    explicit Calibration(std::size_t classes, Curves curves = Curves::standard)
        : curves_(curves), own_(classes, fresh()), labels_(classes) {
        if (curves_ != Curves::standard) return;
        shared_.w = {1.0, 1.0, 0.0};  // 2 lead, as leads are standardised at first
    }

    Curves curves() const { return curves_; }
    std::size_t classes() const { return own_.size(); }
    std::size_t scores() const { return classes() > 2 ? classes() : 1; }

    // Classes not seen before; what was learned of the others stays, as a lead means the same.
    void add_classes(std::size_t count) {
        own_.resize(classes() + count, fresh());
        labels_.resize(classes());
    }

    // The class that the scores choose.
    std::size_t chosen(const double* s) const {
        if (classes() < 2) return 0;
        return choose([s](std::size_t k) { return s[k]; }, scores(), classes() == 2);
    }

    void probabilities(const double* s, double* p) const { share(s, say(s), p); }

    void update(const double* s, std::size_t label) { learn(say(s), label); }

    // Both, in this order.
    void calibrate(const double* s, std::size_t label, double* p) {
        const Said said = say(s);
        share(s, said, p);
        learn(said, label);
    }

    template <class Self, class Visitor>
    static void fields(std::size_t classes, Curves curves, Self* self, Visitor&& visit) {
        const auto list = [&](const char* name, double low, double high, auto of) {
            visit.array({name, {classes}, low, high},
                        [=](std::size_t k) -> auto& { return of(self->own_[k]); });
        };
        list("slope", -1e3, 1e3, [](auto& own) -> auto& { return own.w[0]; });
        list("constant", -1e3, 1e3, [](auto& own) -> auto& { return own.w[1]; });
        // rows only add to what the curvature starts with
        list("H11", 0.5, 1e7, [](auto& own) -> auto& { return own.H[0]; });
        list("H12", -1e7, 1e7, [](auto& own) -> auto& { return own.H[1]; });
        list("H22", 0.0, 1e7, [](auto& own) -> auto& { return own.H[2]; });
        if (curves == Curves::apart) return;
        visit.array({"shared/w", {3}, -1e3, 1e3},
                    [=](std::size_t i) -> auto& { return self->shared_.w[i]; });
        visit.array({"shared/H", {Shared::kEntries}, -1e7, 1e7},
                    [=](std::size_t i) -> auto& { return self->shared_.H[i]; });
        Reliability::fields(self ? &self->reliability_ : nullptr, part_of(visit, "reliability"));
        if (curves == Curves::of_leads) return;
        visit.array({"lead/mean", {}, -kLargestLead, kLargestLead},
                    [=](std::size_t) -> auto& { return self->mean_; });
        visit.array({"lead/variance", {}, kLeastVariance, kLargestLead * kLargestLead},
                    [=](std::size_t) -> auto& { return self->variance_; });
        visit.array({"labels", {classes}, 0.0, 1.0 / kForgetLabels},
                    [=](std::size_t k) -> auto& { return self->labels_[k]; });
    }

    void settle() const {
        for (const Own& own : own_) hold(own.possible(), "H12: a curvature that cannot be");
        hold(shared_.possible(), "shared/H: a curvature that cannot be");
    }

private:
    using Shared = LogisticCurve<3>;
    using Own = LogisticCurve<2>;

    static constexpr double kForgetShared = 0.0025;  // per row
    static constexpr double kForgetOwn = 0.005;      // per row of the class
    static constexpr double kForgetLabels = 0.001;   // and how far leads are from their mean
    static constexpr double kCommon = 0.2;           // share of events that are not rare
    static constexpr double kFirstRows = 20.0;  // what mean and variance of leads count at first
    static constexpr double kFirstSlope = 2.0;  // of a whole curve
    static constexpr double kHalf = 0.5;
    static constexpr double kPrior = 1.0, kPriorOwn = 5.0, kPriorOwnSlope = 50.0;
    static constexpr double kLargestLead = 1.5;  // targets are 1 apart, or 2 (margins)
    static constexpr double kLargest = 8.0;      // deviations from the mean
    static constexpr double kLeastVariance = 1e-8;
    static constexpr double kLeast = 0.01;  // of the other classes, before normalising
    static constexpr double kAhead = 1.0 + 1e-9, kTilt = 1e-6;

    Shared::Row of_all(double z) const {
        return {z, 1.0, curves_ == Curves::standard ? z * z / (1.0 + std::fabs(z)) : z * z};
    }
    static Own::Row of_class(double z) { return {z, 1.0}; }

    // Of a row: the class chosen, how far it leads, as it is and standardised, and how likely it is right.
    struct Said {
        std::size_t top;
        double ahead, z;
        Reliability::Said right;
    };
    Said say(const double* s) const {
        if (classes() < 2) return {};
        const std::size_t top = chosen(s);
        const double ahead = lead(s, top), z = standardised(ahead);
        double log_odds = own_[top].at(of_class(z));
        if (curves_ != Curves::apart) log_odds += shared_.at(of_all(z));
        return {top, ahead, z, reliability_.say(log_odds)};
    }

    double standardised(double lead) const {
        if (curves_ != Curves::standard) return lead;
        return std::clamp((lead - mean_) / std::sqrt(variance_), -kLargest, kLargest);
    }

    void share(const double* s, const Said& said, double* p) const {
        if (classes() == 0) return;
        if (classes() == 1) {
            p[0] = 1.0;
            return;
        }
        double others = 0.0, largest = 0.0;
        for (std::size_t k = 0; k < classes(); ++k) {
            if (k == said.top) continue;
            p[k] = classes() == 2 ? 1.0 : kLeast + std::clamp(s[k], 0.0, 1.0);
            others += p[k];
            largest = std::max(largest, p[k]);
        }
        // The second class gets the share r of the rest; it stays behind if right > r / (1 + r).
        const double r = largest / others;
        // Where the curve says less than that, leads still tell rows apart.
        const double least = (kAhead + kTilt * said.ahead) * r / (1.0 + r);
        const double right = std::max(said.right.corrected, least);
        for (std::size_t k = 0; k < classes(); ++k)
            p[k] = k == said.top ? right : (1.0 - right) * (p[k] / others);
    }

    void learn(const Said& said, std::size_t label) {
        if (classes() < 2) return;
        const bool right = said.top == label;
        const double fade = curves_ == Curves::standard ? count(said.ahead, label) : 1.0;
        own_[said.top].update(of_class(said.z), said.right.p, right, fade * kForgetOwn);
        if (curves_ == Curves::apart) return;
        const Shared::Row row = of_all(said.z);
        shared_.update(row, logistic(shared_.at(row)), right, fade * kForgetShared);
        reliability_.update(said.right, right);
    }

    // Counts a row's label and lead; returns how fast curves fade, 1 where nothing is rare.
    double count(double ahead, std::size_t label) {
        double rows = 0.0, most = 0.0;
        for (std::size_t k = 0; k < classes(); ++k) {
            labels_[k] += (k == label ? 1.0 : 0.0) - kForgetLabels * labels_[k];
            rows += labels_[k];
            most = std::max(most, labels_[k]);
        }
        const double fade = std::min(1.0, (1.0 + rows - most) / (1.0 + rows) / kCommon);
        const bool rare = fade < 1.0;
        const double share = 1.0 / (kFirstRows + rows), off = ahead - mean_;
        mean_ += share * ((rare ? ahead : kHalf) - mean_);
        variance_ += share * ((rare ? off * off : kHalf * kHalf) - variance_);
        variance_ = std::max(variance_, kLeastVariance);
        return fade;
    }

    double lead(const double* s, std::size_t top) const {
        double second = classes() == 2 ? 0.0 : -kLargestLead + s[top];
        if (classes() > 2)
            for (std::size_t k = 0; k < classes(); ++k)
                if (k != top) second = std::max(second, s[k]);
        const double first = classes() == 2 ? std::fabs(s[0]) : s[top];
        return std::min(first - second, kLargestLead);
    }

    Own fresh() const {
        if (curves_ == Curves::apart) return Own({kPrior, kPrior}, kFirstSlope);
        return Own({curves_ == Curves::of_leads ? kPriorOwn : kPriorOwnSlope, kPriorOwn}, 0.0);
    }

    Curves curves_;
    Shared shared_{{kPrior, kPrior, kPrior}, kFirstSlope};
    std::vector<Own> own_;
    double mean_ = kHalf, variance_ = kHalf * kHalf;  // of leads
    std::vector<double> labels_;                      // how many of each class, lately
    Reliability reliability_;                         // corrects nothing until it is taught
};

}  // namespace dfop
