// Running means of regions, at most kMost of them, each of one class. A row z (standardised) is
// voted on by all of them,
//     p(c) ~ sum over prototypes i of class c of w_i exp(-|z - m_i|^2 / (2 h)),
// with h = r^2 / d, where r^2 is the running mean of the squared distance of a row to the nearest
// prototype of its class, d counts the features that have changed so far.
//
// A row becomes a prototype of its own if the nearest of its class is farther than 1.5 r^2, or 0.75
// r^2 where the vote was wrong; it takes the place of the lightest. Else it moves the nearest of
// its class by max(1 / w, 0.02) of the gap.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "fading_weights.hpp"
#include "label_expert.hpp"

namespace dfop {

class Prototypes {
public:
    explicit Prototypes(std::size_t features);

    void add_features(std::size_t count);
    void add_classes(std::size_t count) { classes_ += count; }

    void predict(const LabelRow& row, double* p) const;
    void learn(const LabelRow& row, std::size_t c, double gain, const double* p);
    void pass(double discount) { weights_.pass(discount); }

    template <class Self, class Visitor>
    static void fields(std::size_t features, std::size_t classes, Self* self, Visitor&& visit) {
        FadingWeights::fields(kMost, self ? &self->weights_ : nullptr, visit);
        visit.array({"class", {kMost}, 0.0, static_cast<double>(classes)},
                    [=](std::size_t i) -> auto& { return self->class_[i]; });
        visit.array({"mean", {features, kMost}, -kFarthest, kFarthest},
                    [=](std::size_t i) -> auto& { return self->mean_[i]; });
        visit.array({"changed", {features}, 0.0, 1.0},
                    [=](std::size_t j) -> auto& { return self->changed_[j]; });
        visit.array({"distances", {}, 0.0, kLargestSquare},
                    [=](std::size_t) -> auto& { return self->distances_; });
        visit.array({"distance_rows", {}, 0.0, kLargestSquare},
                    [=](std::size_t) -> auto& { return self->distance_rows_; });
    }
    void settle();

private:
    static constexpr std::size_t kMost = 128;
    static constexpr double kFarthest = 5.0;  // above any standardised feature
    static constexpr double kFar = 1.5, kFarIfWrong = 0.75, kLeastStep = 0.02;
    static constexpr double kDistanceMemory = 0.998;  // a row
    static constexpr double kNothing = 30.0;          // votes below exp(-30) of the nearest

    using Distances = std::array<float, kMost>;

    // Of the row that was predicted last.
    static Distances& distances();
    void find_distances(const double* z, Distances& squared) const;
    std::size_t nearest(const Distances& squared, std::size_t c) const;
    double changing_features() const;
    double typical_distance() const;
    void place(const double* z, std::size_t c, double weight);
    void move(const double* z, std::size_t i, double weight);

    std::size_t features_ = 0, classes_ = 0;
    std::size_t used_ = 0;               // none behind them has a weight
    FadingWeights weights_;              // of every prototype
    std::array<double, kMost> class_{};  // its class
    std::vector<float> mean_;            // features x kMost: all prototypes side by side
    std::vector<double> changed_;        // 1 for a feature that was not always 0
    double distances_ = 0.0, distance_rows_ = 0.0;
};

}  // namespace dfop
