// Many filters on the same rows, each with its own forgetting and its own view of the features,
// and one prediction made of theirs. The filters do not depend on each other, so a block of rows
// passes through one after the other; the combination then takes the block row by row. Nothing
// depends on where blocks end.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "error_record.hpp"
#include "feature_map.hpp"
#include "filter.hpp"
#include "late_combiner.hpp"
#include "standardiser.hpp"

namespace dfop {

struct ExpertDesign {
    std::size_t map;
    double mu;    // what it forgets with every row
    double walk;  // how far its weights may walk with every row, see Filter::learn
};

struct MapDesign {
    FeatureMap::Kind kind;
    double width;       // of Fourier features
    std::size_t count;  // of Fourier features
};

struct TargetDesign {
    Coding coding;
    std::size_t outputs;
    bool shadow = false;  // learned and combined, but its errors do not tell what experts are worth
    bool late = false;    // a label of it came late, see LateCombiner
};

struct BankDesign {
    std::vector<MapDesign> maps;
    std::vector<ExpertDesign> experts;
    std::vector<TargetDesign> targets;
    bool intercept;
    double prior_variance;
    bool relative_prior;
    double cap;
};

// What a row does to an expert: see Bank::learn.
struct Fading {
    double mu, rate, walk;

    explicit Fading(const ExpertDesign& expert);
    double discount(double elapsed) const;
    double gain(double elapsed, double age) const;
};

// Whether some map needs standardised features.
inline bool is_curved(const BankDesign& design) {
    for (const MapDesign& map : design.maps)
        if (map.kind != FeatureMap::Kind::linear) return true;
    return false;
}

class Bank {
public:
    Bank(std::size_t features, const BankDesign& design);

    // Predicts every row before its label is read, then learns it. `elapsed` is the time that
    // passes with the row, in rows: c for a row that stands for c of them. `age` is how long ago
    // the row came, infinite for one that shall be predicted only.
    // Of a row that was predicted before, `made` says what was: `made_size` numbers, which begin with
    // NaN where that is not known.
    void learn(const double* X, std::size_t n, const double* Y, PerRow elapsed, PerRow age,
               double* yhat, double* made = nullptr);
    void predict(const double* X, std::size_t n, double* yhat, double* made = nullptr) const;
    std::size_t made_size() const;
    // forget(1) and then a row with no time is the same, bit for bit, as a row with time 1.
    void forget(double elapsed);

    // Labels that come late, as Filter::replay; `now` and the stamps count time. What was made of
    // rows is put down when they come and read when their label does.
    double replay(const double* X, const double* Y, Steps steps, PerRow elapsed, double* stamps,
                  double now, double* yhat, double* made);

    void add_features(std::size_t count);  // as if they had been there, always 0
    // To the last target, a class label: copies of its last output, see Combiner::add_outputs.
    void add_outputs(std::size_t count);
    // Further numbers to predict, before any label was learned: as if they had been there.
    void add_number_targets(std::size_t count);
    void drop_first_target();
    void set_shadow(std::size_t target, bool shadow) { design_.targets[target].shadow = shadow; }
    bool learned() const { return errors_.rows() > 0.0; }

    std::size_t features() const { return features_; }
    std::size_t outputs() const { return outputs_; }
    const BankDesign& design() const { return design_; }
    // outputs x experts: what each expert counts in the prediction.
    std::vector<double> weights() const;

    const std::vector<Filter>& experts() const { return experts_; }
    const ErrorRecord& errors() const { return errors_; }

    template <class Self, class Visitor>
    static void fields(std::size_t features, const BankDesign& design, Self* self, Visitor&& visit);
    void settle();

private:
    struct Workspace;
    static Workspace& workspace();

    void add_target(const TargetDesign& target);
    void view_row(const double* row, std::size_t t, Workspace& space) const;
    const double* view(const Workspace& space, std::size_t map, const double* X) const;
    void learn_block(const double* X, std::size_t n, const double* Y, PerRow elapsed, PerRow age,
                     double* yhat, double* made);
    void learn_late(const double* X, std::size_t n, const double* Y, const double* stamps,
                    double now, double* made);
    // Calls `each(combiner, first output, what was made)` for all targets.
    template <class Self, class Each>
    static void each_target(Self& self, double* made, const Each& each);
    void view_rows(const double* X, std::size_t n, PerRow age, Workspace& space);
    void bound_labels(const double* Y, std::size_t n, Workspace& space) const;
    void learn_expert(std::size_t k, const double* X, std::size_t n, PerRow elapsed, PerRow age,
                      Workspace& space);
    void record_errors(std::size_t n, Workspace& space);

    std::size_t features_, outputs_ = 0;
    BankDesign design_;
    bool curved_;
    Standardiser standardiser_;
    std::vector<FeatureMap> maps_;
    std::vector<Fading> fadings_;
    std::vector<Filter> experts_;
    std::vector<LateCombiner> combiners_;
    ErrorRecord errors_;
};

template <class Self, class Visitor>
void Bank::fields(std::size_t features, const BankDesign& design, Self* self, Visitor&& visit) {
    const std::size_t experts = design.experts.size();
    std::size_t outputs = 0;
    for (const TargetDesign& target : design.targets) outputs += bounded_size(target.outputs);
    if (is_curved(design))
        Standardiser::fields(features, self ? &self->standardiser_ : nullptr,
                             part_of(visit, "standardiser"));
    for (std::size_t i = 0; i < design.maps.size(); ++i)
        FeatureMap::fields(design.maps[i].kind, features, design.maps[i].count,
                           self ? &self->maps_[i] : nullptr,
                           part_of(visit, "map " + std::to_string(i)));
    for (std::size_t k = 0; k < experts; ++k) {
        const MapDesign& map = design.maps[design.experts[k].map];
        Filter::fields(FeatureMap::size(map.kind, features, map.count), outputs, design.intercept,
                       self ? &self->experts_[k] : nullptr,
                       part_of(visit, "expert " + std::to_string(k)));
    }
    std::size_t output = 0;
    for (std::size_t c = 0; c < design.targets.size(); ++c) {
        auto* combiner = self ? &self->combiners_[c] : nullptr;
        const bool late = design.targets[c].late;
        LateCombiner::fields(late, experts, combiner,
                             part_of(visit, "target " + std::to_string(c)));
        for (std::size_t o = 0; o < design.targets[c].outputs; ++o, ++output)
            LateCombiner::output_fields(late, design.targets[c].coding, experts, o, combiner,
                                        part_of(visit, "output " + std::to_string(output)));
    }
    ErrorRecord::fields(experts, self ? &self->errors_ : nullptr, part_of(visit, "errors"));
}

}  // namespace dfop
