// Linear discriminant: in every class the standardised features z are normal with a mean of the
// class and a covariance S / n that all classes share,
//     log p(c | z) = const + log w_c + a_c'(z - m_c / 2),   a_c = n S^-1 m_c.
// S is the scatter of rows around the means of their classes, with a prior of kPriorRows rows of
// covariance 1. a_c is worked out when a row of the class is learned.
#pragma once

#include <cstddef>
#include <vector>

#include "fading_weights.hpp"
#include "label_expert.hpp"
#include "scatter_factor.hpp"

namespace dfop {

class Discriminant {
public:
    explicit Discriminant(std::size_t features) { add_features(features); }

    void add_features(std::size_t count);
    void add_classes(std::size_t count);

    void predict(const LabelRow& row, double* p) const;
    void learn(const LabelRow& row, std::size_t c, double gain, const double* p);
    void pass(double discount) { weights_.pass(discount); }

    template <class Self, class Visitor>
    static void fields(std::size_t features, std::size_t classes, Self* self, Visitor&& visit) {
        FadingWeights::fields(classes, self ? &self->weights_ : nullptr, visit);
        ScatterFactor::fields(features, self ? &self->scatter_ : nullptr, visit);
        visit.array({"rows", {}, kAbove0, kLargestSquare},
                    [=](std::size_t) -> auto& { return self->rows_; });
        visit.array({"mean", {classes, features}, -kFarthest, kFarthest},
                    [=](std::size_t i) -> auto& { return self->mean_[i]; });
        visit.array({"direction", {classes, features}, -kSteepest, kSteepest},
                    [=](std::size_t i) -> auto& { return self->direction_[i]; });
    }
    void settle();

private:
    static constexpr double kPriorRows = 10.0;
    static constexpr double kLeastRows = 1.0;   // of the prior, when the rest has faded
    static constexpr double kFarthest = 5.0;    // above any standardised feature
    static constexpr double kSteepest = 1e100;  // a direction beyond is rounding

    void set_direction(std::size_t c);
    void derive(std::size_t c);

    std::size_t features_ = 0;
    FadingWeights weights_;
    ScatterFactor scatter_{kPriorRows};
    double rows_ = kPriorRows;       // n, with those of the prior
    std::vector<double> mean_;       // m_c, classes x features
    std::vector<double> direction_;  // a_c
    std::vector<double> constant_;   // a_c'm_c / 2
};

}  // namespace dfop
