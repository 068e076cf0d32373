// Naive Bayes on the shared bins: in every class the features are independent, and value x_j is as
// likely as the share of its bin,
//     log p(c | x) = const + log n_c + 1/sqrt(d) sum_j log (n_cjb + 1/2) / (n_c + B_j / 2),
// n_cjb rows of class c have feature j in bin b, of B_j bins. The sum is over the d features that
// have more than one bin; as they are not independent, it counts as one of sqrt(d) that are.
// Nothing is forgotten.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "bins.hpp"
#include "fading_weights.hpp"
#include "label_expert.hpp"

namespace dfop {

class HistogramBayes {
public:
    explicit HistogramBayes(std::size_t features) { add_features(features); }

    void add_features(std::size_t count);
    void add_classes(std::size_t count);

    void predict(const LabelRow& row, double* p) const;
    void learn(const LabelRow& row, std::size_t c, double gain, const double* p);
    void pass(double) {}
    void rebin(const Bins::Moves& moves, const Bins& bins);

    template <class Self, class Visitor>
    static void fields(std::size_t features, std::size_t classes, Self* self, Visitor&& visit) {
        FadingWeights::fields(classes, self ? &self->weights_ : nullptr, visit);
        visit.array({"bins", {features}, 1.0, static_cast<double>(Bins::kBins)},
                    [=](std::size_t j) -> auto& { return self->bins_[j]; });
        visit.array({"counts", {features, Bins::kBins, kept(features, classes)}, 0.0, kMostWeight},
                    [=](std::size_t i) -> auto& { return self->counts_[i]; });
    }
    void settle();

private:
    static constexpr double kPrior = 0.5, kMostWeight = 1e200;
    static constexpr std::size_t kMostCells = std::size_t{1} << 17;

    // How many classes have histograms: as many as there is room for, at least two.
    static std::size_t kept(std::size_t features, std::size_t classes) {
        const std::size_t cells = Bins::kBins * std::max<std::size_t>(bounded_size(features), 1);
        return std::min(classes, std::max<std::size_t>(kMostCells / cells, 2));
    }
    std::size_t cell(std::size_t j, std::size_t bin) const {
        return (j * Bins::kBins + bin) * kept_;
    }
    void fit(std::size_t features, std::size_t classes);
    void derive();
    void set_total(std::size_t c);

    std::size_t features_ = 0, kept_ = 0;
    FadingWeights weights_;           // n_c
    std::vector<double> bins_;        // B_j
    std::vector<double> counts_;      // n_cjb, features x bins x classes
    std::vector<double> logarithms_;  // of count + prior
    std::vector<double> totals_;      // of every class, sum_j log(n_c + prior B_j)
    double temper_ = 0.0;             // 1 / sqrt(d)
};

}  // namespace dfop
