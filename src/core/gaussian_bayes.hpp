// Naive Bayes: in every class the features are independent and normal,
//     log p(c | x) = const + log w_c - 1/2 sum_j (x_j - m_cj)^2 / v_cj + log v_cj.
// With n_c rows of variance s_cj in class c, and s_j in all of them,
//     v_cj = (n_c s_cj + 3 s_j) / (n_c + 3) + s_j / 1000,
// worked out when a row of the class is learned, or a feature changes for the first time. One feature counts at most kFarthest deviations, and
// one that never changed does not count.
#pragma once

#include <cstddef>
#include <vector>

#include "fading_weights.hpp"
#include "label_expert.hpp"

namespace dfop {

class GaussianBayes {
public:
    explicit GaussianBayes(std::size_t features) { add_features(features); }

    void add_features(std::size_t count);
    void add_classes(std::size_t count);

    void predict(const LabelRow& row, double* p) const;
    void learn(const LabelRow& row, std::size_t c, double gain, const double* p);
    void pass(double discount) { weights_.pass(discount); }

    template <class Self, class Visitor>
    static void fields(std::size_t features, std::size_t classes, Self* self, Visitor&& visit) {
        FadingWeights::fields(classes, self ? &self->weights_ : nullptr, visit);
        visit.array({"rows", {}, 0.0, kLargestSquare},
                    [=](std::size_t) -> auto& { return self->rows_; });
        visit.array({"all_mean", {features}, -0x1p501, 0x1p501},
                    [=](std::size_t j) -> auto& { return self->all_mean_[j]; });
        visit.array({"all_squares", {features}, 0.0, kMostSquares},
                    [=](std::size_t j) -> auto& { return self->all_squares_[j]; });
        visit.array({"mean", {classes, features}, -0x1p501, 0x1p501},
                    [=](std::size_t i) -> auto& { return self->mean_[i]; });
        visit.array({"squares", {classes, features}, 0.0, kMostSquares},
                    [=](std::size_t i) -> auto& { return self->squares_[i]; });
        visit.array({"variance", {classes, features}, 0.0, kMostSquares},
                    [=](std::size_t i) -> auto& { return self->variance_[i]; });
    }
    void settle();

private:
    static constexpr double kMostSquares = 1e304, kPriorRows = 3.0, kLeastShare = 1e-3;
    // Smaller variances are none.
    static constexpr double kLeastVariance = 1e-290;
    static constexpr double kFarthest = 10.0;

    std::size_t changing_features() const;
    void include(const double* x, double share, double* mean, double* squares) const;
    void set_variances(std::size_t c);
    void derive(std::size_t c);

    std::size_t features_ = 0;
    FadingWeights weights_;
    double rows_ = 0.0;                           // of all classes
    std::vector<double> all_mean_, all_squares_;  // mean squared deviation from the mean
    std::vector<double> mean_, squares_;          // classes x features
    std::vector<double> variance_;                // 0 of a feature that does not count
    std::vector<double> precision_;               // 1 / variance, or 0
    std::vector<double> constant_;                // -1/2 sum_j log v_cj
};

}  // namespace dfop
