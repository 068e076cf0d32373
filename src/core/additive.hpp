// A sum of one curve per column (an additive model), each a table over the shared bins:
//     f(x) = c + sum_j (u_j[bin of x_j] + v_j[part of x_j]),
// where the up to 32 bins of a column make up at most 8 parts: coarse parts learn from few rows, fine
// bins say what is left. The constant and the cells of the tables are the weights of a Kalman filter
// that keeps their variances alone, in units of the noise. A row that counts g,
//     s = 1/g + sum of the variances of its cells,   each of them: w += p e / s,   p -= p^2 / s,
// but p never falls below .01, so that cells follow what changes. The outputs share the variances.
// Columns that have one bin so far do not count.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bins.hpp"
#include "expert.hpp"
#include "fields.hpp"

namespace dfop {

class Additive {
public:
    explicit Additive(std::size_t features) { add_features(features); }

    void learn(const ExpertRows& rows, double* predictions);
    void predict(const ExpertRows& rows, double* predictions) const;
    void forget(double) {}

    void add_features(std::size_t count);
    void add_outputs(std::size_t count);
    void add_target(const TargetDesign& target);
    void drop_first_target();
    void rebin(const Bins::Moves& moves, const Bins& bins);

    template <class Self, class Visitor>
    static void fields(std::size_t features, std::size_t outputs, Self* self, Visitor&& visit) {
        const std::size_t cells = cells_of(features);
        visit.array({"bins", {features}, 1.0, static_cast<double>(Bins::kBins)},
                    [=](std::size_t j) -> auto& { return self->bins_[j]; });
        visit.array({"variances", {cells}, kLeastVariance, kPriorOfConstant},
                    [=](std::size_t i) -> auto& { return self->variances_[i]; });
        visit.array({"weights", {cells, kept(features, outputs)}, -kMostWeight, kMostWeight},
                    [=](std::size_t i) -> auto& { return self->weights_[i]; });
    }
    void settle();

private:
    static constexpr std::size_t kParts = 8, kColumnCells = Bins::kBins + kParts;
    static constexpr double kPrior = 1.0, kPriorOfConstant = 1000.0, kLeastVariance = 0.01;
    static constexpr double kMostWeight = 1e300;
    static constexpr std::size_t kMostWeights = std::size_t{1} << 17;

    using Cells = std::vector<std::size_t>;  // those that a row is in

    // The constant, then the bins and the parts of each column.
    static std::size_t cells_of(std::size_t features) {
        return 1 + kColumnCells * bounded_size(features);
    }
    // How many outputs have weights: as many as there is room for, at least two. The others are 0.
    static std::size_t kept(std::size_t features, std::size_t outputs);
    static std::size_t first_cell(std::size_t j) { return 1 + j * kColumnCells; }
    std::size_t part_of(std::size_t j, std::size_t bin) const {
        return parts_[j * Bins::kBins + bin];
    }

    void find(const std::uint8_t* bins, Cells& cells) const;
    void predict_row(const Cells& cells, std::size_t width, double* out) const;
    void learn_row(const Cells& cells, double gain, const double* labels, double* errors);
    void fit(std::size_t features, std::size_t outputs);
    void derive_parts();
    void move_column(std::size_t j, const std::uint8_t* from, std::size_t bins);

    std::size_t features_ = 0, kept_ = 0;
    std::vector<std::size_t> outputs_;                 // of every target
    std::vector<double> bins_;                         // how many each column has
    std::vector<double> variances_{kPriorOfConstant};  // of the cells
    std::vector<double> weights_;                      // cells x outputs
    std::vector<std::uint8_t> parts_;  // features x bins: which part of its column a bin is in
};

}  // namespace dfop
