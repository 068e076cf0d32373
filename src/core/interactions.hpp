// Columns that count together, found while rows come: a filter on the standardised columns z and on
// products that have proved themselves (forward selection with tests of score, as MARS and GA2M
// choose their terms). The elements of a column j are z_j and its gate g_j, 1 where z_j > 0, which is
// the column itself where it has two values. Candidates are, for columns i < j,
//     g_j,  z_j^2,  z_i z_j,  z_i g_j,  g_i z_j,  g_i g_j,
// of columns j behind the first 32 those of gates g_i, g_j with i < j left out, as they are many.
// With v the filter's error on a row in units of its usual one, limited to 3, every candidate x keeps
//     S = sum lam^age v x,   Q = sum lam^age (v x)^2:
// where x tells nothing that the filter does not know, S^2/Q is chi-squared with one degree of freedom.
// Every 8 learned rows the best candidates with S^2/Q > 2 ln(candidates) take a slot each, where one is
// free or holds a product that counts less: w^2/(P spread), the Wald statistic of its weight.
//
// Several outputs have an S and Q each, up to 4; of more, output o adds to those of o mod 4 with a random
// sign, and S^2/Q are summed up. An output that is always 0 changes nothing.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "expert.hpp"
#include "fading.hpp"
#include "fields.hpp"
#include "filter.hpp"

namespace dfop {

// Which products there are. A column that comes later adds its candidates at the end.
struct Product {
    bool left_gate, right_gate, alone;  // alone: there is no left factor
    std::size_t i, j;

    static constexpr std::size_t kGated = 32;  // columns whose gates are multiplied

    // Of so many columns, and which one of them.
    static std::size_t count(std::size_t features) {
        const std::size_t gated = features < kGated ? features : kGated;
        const std::size_t rest = features - gated;
        return 2 * gated * gated + rest * (2 + gated) + rest * (rest - (rest > 0)) / 2;
    }
    static Product at(std::size_t candidate);
    double value(const double* z, const double* gates) const {
        const double right = right_gate ? gates[j] : z[j];
        return alone ? right : (left_gate ? gates[i] : z[i]) * right;
    }
    // The largest value that it can have.
    double largest() const;
};

// The interactions that predict one target.
class TargetInteractions {
public:
    TargetInteractions(const TargetDesign& target, std::size_t features, bool intercept,
                       double cap);

    // The outputs of the target begin at `first`.
    void learn(const ExpertRows& rows, std::size_t first, const Fading& fading,
               double* predictions);
    void predict(const ExpertRows& rows, std::size_t first, double* predictions) const;
    void forget(double discount) { filter_.forget(discount, 0.0); }
    void add_features(std::size_t count);
    void add_outputs(std::size_t count);
    std::size_t outputs() const { return filter_.outputs(); }

    template <class Self, class Visitor>
    static void fields(std::size_t features, std::size_t outputs, bool intercept, Self* self,
                       Visitor&& visit);
    void settle();

private:
    static constexpr std::size_t kSlots = 24, kGroups = 4;
    static constexpr double kNone = -1.0;
    using Errors = std::array<double, kGroups>;
    struct Space;

    static std::size_t groups_of(std::size_t outputs) {
        return outputs < kGroups ? outputs : kGroups;
    }
    std::size_t candidates() const { return Product::count(features_); }

    void stage(const ExpertRows& rows, std::size_t from, std::size_t count, Space& space) const;
    std::size_t rows_to_choice(const ExpertRows& rows, std::size_t from) const;
    void judge(const double* z, const double* gates, const double* labels, const double* said,
               double mu);
    Errors usual_errors(const double* labels, const double* said, double mu);
    void add(const double* z, const double* gates, const Errors& errors);
    void choose(double mu);
    std::size_t weakest(double& worth) const;
    void place(std::size_t candidate, std::size_t slot);
    void clear(std::size_t candidate);

    std::size_t features_;
    double rows_ = 0.0;                   // learned
    Filter filter_;                       // on the slots and the columns
    std::vector<double> chosen_;          // of every slot its candidate, or kNone
    std::vector<double> spread_;          // mean squared error of each output
    std::vector<double> sums_, squares_;  // S and Q, groups x candidates
    std::vector<Product> products_;       // of the slots
};

// The expert. Of more targets than kMostTargets the further ones are not learned: what grows has a
// bound.
class Interactions {
public:
    Interactions(double mu, std::size_t features, bool intercept, double cap)
        : features_(features), intercept_(intercept), cap_(cap), fading_(mu) {}

    void learn(const ExpertRows& rows, double* predictions);
    void predict(const ExpertRows& rows, double* predictions) const;
    void forget(double elapsed);
    void add_features(std::size_t count);
    void add_outputs(std::size_t count);
    void add_target(const TargetDesign& target);
    void drop_first_target();

    template <class Self, class Visitor>
    static void fields(std::size_t features, const std::vector<TargetDesign>& targets,
                       bool intercept, Self* self, Visitor&& visit) {
        for (std::size_t c = 0; c < targets.size() && c < kMostTargets; ++c)
            TargetInteractions::fields(features, targets[c].outputs, intercept,
                                       self ? &self->targets_[c] : nullptr,
                                       part_of(visit, "target " + std::to_string(c)));
    }
    void settle();

private:
    static constexpr std::size_t kMostTargets = 4;

    std::size_t features_;
    bool intercept_;
    double cap_;
    Fading fading_;
    std::vector<std::size_t> outputs_;  // of every target
    std::vector<TargetInteractions> targets_;
};

template <class Self, class Visitor>
void TargetInteractions::fields(std::size_t features, std::size_t outputs, bool intercept,
                                Self* self, Visitor&& visit) {
    const std::size_t candidates = Product::count(bounded_size(features));
    const auto last = static_cast<double>(candidates) - 1.0;
    visit.array({"rows", {}, 0.0, kMostRows}, [=](std::size_t) -> auto& { return self->rows_; });
    visit.array({"chosen", {kSlots}, kNone, last},
                [=](std::size_t i) -> auto& { return self->chosen_[i]; });
    visit.array({"spread", {outputs}, 0.0, kLargestSquare},
                [=](std::size_t o) -> auto& { return self->spread_[o]; });
    const std::size_t groups = groups_of(outputs);
    visit.array({"sums", {groups, candidates}, -kLargestSquare, kLargestSquare},
                [=](std::size_t i) -> auto& { return self->sums_[i]; });
    visit.array({"squares", {groups, candidates}, 0.0, kLargestSquare},
                [=](std::size_t i) -> auto& { return self->squares_[i]; });
    Filter::fields(kSlots + features, outputs, intercept, self ? &self->filter_ : nullptr,
                   part_of(visit, "filter"));
}

}  // namespace dfop
