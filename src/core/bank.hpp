// Many experts on the same rows, filters with a forgetting and a view of the features each, and
// others, and one prediction made of theirs. The experts do not depend on each other, so a block of
// rows passes through one after the other; the combination then takes the block row by row. Nothing
// depends on where blocks end.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "error_record.hpp"
#include "expert_kinds.hpp"
#include "feature_bounds.hpp"
#include "feature_map.hpp"
#include "late_combiner.hpp"
#include "standardiser.hpp"
#include "target_bounds.hpp"
#include "threads.hpp"

namespace dfop {

struct MapDesign {
    FeatureMap::Kind kind;
    double width;       // of waves
    std::size_t count;  // of waves
};

struct BankDesign {
    std::vector<MapDesign> maps;
    std::vector<ExpertDesign> experts;
    std::vector<TargetDesign> targets;
    bool intercept;
    double prior_variance;
    bool relative_prior;
    double cap;
    bool bounded = false;  // values far from all that was seen are drawn in, see FeatureBounds,
                           // TargetBounds
};

// Whether some map or expert needs standardised features.
inline bool is_standardised(const BankDesign& design) {
    for (const MapDesign& map : design.maps)
        if (FeatureMap::is_standardised(map.kind)) return true;
    for (const ExpertDesign& expert : design.experts)
        if (needs_standardised(expert.kind)) return true;
    return false;
}

// Whether some map or expert needs the bins of the rows.
inline bool is_binned(const BankDesign& design) {
    for (const MapDesign& map : design.maps)
        if (map.kind == FeatureMap::Kind::ranks) return true;
    for (const ExpertDesign& expert : design.experts)
        if (needs_bins(expert.kind)) return true;
    return false;
}

// Whether a target has TargetBounds; the others have the bounds of their combination.
inline bool has_bounds(const BankDesign& design, const TargetDesign& target) {
    return design.bounded && target.coding == Coding::number;
}

// Where expert k stands in a bank.
inline ExpertPlace place_of(const BankDesign& design, std::size_t features, std::size_t k) {
    const ExpertDesign& expert = design.experts[k];
    std::size_t inputs = 0;
    if (expert.kind == ExpertDesign::Kind::filter) {
        const MapDesign& map = design.maps[expert.map];
        inputs = FeatureMap::size(map.kind, features, map.count);
    }
    return {features, inputs, design.intercept, design.targets};
}

class Bank {
public:
    Bank(std::size_t features, const BankDesign& design);

    // Predicts every row before its label is read, then learns it. `elapsed` is the time that
    // passes with the row, in rows: c for a row that stands for c of them. `age` is how long ago
    // the row came, infinite for one that shall be predicted only, -infinite for one without a label:
    // it is predicted, its time passes, and it shows how features are distributed.
    // Of a row that was predicted before, `made` says what was: `made_size` numbers, which begin with
    // NaN where that is not known.
    // `given` are the answers of experts outside: of row t, the j-th of them and output o at
    // [(t * own + j) * outputs + o], NaN where it has none. Without them nobody has an answer.
    void learn(const double* X, std::size_t n, const double* Y, PerRow elapsed, PerRow age,
               double* yhat, double* made = nullptr, const double* given = nullptr);
    void predict(const double* X, std::size_t n, double* yhat, double* made = nullptr,
                 const double* given = nullptr) const;
    std::size_t made_size() const;
    // Predicts rows that wait since before the first label once more, so that experts are compared
    // by what they say of rows to come even in the first labels that come together.
    void remake(const double* X, std::size_t n, double* made) const;
    // Whether that would predict a row once more.
    bool came_first(double* made) const;
    // Of every expert: of expert k, row t, output o at [(k * n + t) * outputs + o].
    void predict_each(const double* X, std::size_t n, double* predictions) const;
    // forget(1) and then a row with no time is the same, bit for bit, as a row with time 1.
    void forget(double elapsed);

    // Labels that come late, as Filter::replay; `now` and the stamps count time. What was made of
    // rows is put down when they come and read when their label does. Of the answers from outside
    // there are two: when a row comes, and when its label does.
    double replay(const double* X, const double* Y, Steps steps, PerRow elapsed, double* stamps,
                  double now, double* yhat, double* made, const double* given_first = nullptr,
                  const double* given_late = nullptr);

    void add_features(std::size_t count);  // as if they had been there, always 0
    // To the last target, a class label: copies of its last output, see Combiner::add_outputs.
    void add_outputs(std::size_t count);
    // Further numbers to predict, before any label was learned: as if they had been there.
    void add_number_targets(std::size_t count);
    void drop_first_target();
    void drop_last_output();  // of the last target, for linear filters alone
    void set_shadow(std::size_t target, bool shadow) { design_.targets[target].shadow = shadow; }
    bool learned() const { return errors_.rows() + begun_ > 0.0; }

    // On how many threads experts learn and rows are predicted; no bit depends on it.
    void set_threads(std::size_t threads) { threads_ = threads; }
    std::size_t threads() const { return threads_; }

    std::size_t features() const { return features_; }
    std::size_t outputs() const { return outputs_; }
    std::size_t own() const { return own_; }  // experts outside
    const BankDesign& design() const { return design_; }
    // outputs x experts: what each expert counts in the prediction.
    std::vector<double> weights() const;

    const std::vector<Expert>& experts() const { return experts_; }
    const ErrorRecord& errors() const { return errors_; }

    template <class Self, class Visitor>
    static void fields(std::size_t features, const BankDesign& design, Self* self, Visitor&& visit);
    void settle();

    // The same in one row of numbers, for many banks of one design at rest: of linear filters alone,
    // and without how errors went along the stream. A label may have come late only where the row has
    // room for that, `late`.
    bool packable() const;
    std::size_t packed_size(bool late) const;
    void pack(double* to, bool late) const;
    void unpack(const double* from, bool late);
    void check() const;  // refuses a state that no bank can have had

private:
    struct Block;
    struct Workspace;
    static Workspace& workspace();

    void add_target(const TargetDesign& target);
    void begin_anew();
    Expert fresh_expert(const ExpertDesign& expert) const;
    template <class Task>
    void run(std::size_t count, std::size_t rows, const Task& task) const;
    const double* bound_rows(const double* X, Block& block) const;
    const double* learn_bounds(const double* X, Block& block);
    void scale_row(std::size_t t, Block& block) const;
    void map_row(std::size_t t, Block& block) const;
    ExpertRows rows_of(Block& block) const;
    std::size_t block_rows(std::size_t n, PerRow age) const;
    void redraw_bins();
    void rebin_experts(const Bins::Moves& moves);
    void view_rows(const double* X, Block& block);
    void bound_labels(const double* Y, Block& block, Workspace& space);
    void bound_numbers(const double* Y, Block& block);
    void leave_out(std::size_t t, Block& block) const;
    void note_apart(std::size_t t, Block& block) const;
    void put_instead(double* to) const;
    void say_instead(const Block& block) const;
    bool bounds_are_due() const;
    void mark_made(std::size_t rows, double* made) const;
    void forget_made(const Block& block) const;
    void order_experts(std::vector<std::size_t>& order) const;
    void learn_expert(std::size_t k, ExpertRows rows, Block& block);
    void combine(Block& block);
    void record_errors(const Block& block);
    Block& predict_block(const double* X, std::size_t n, const double* given) const;
    void learn_late(const double* X, std::size_t n, const double* Y, const double* stamps,
                    double now, double* made, const double* given);
    // The answers from row t on.
    const double* given_from(const double* given, std::size_t t) const {
        return given ? given + t * own_ * outputs_ : nullptr;
    }
    // Calls `each(target, first output, what was made)` for all targets.
    template <class Self, class Each>
    static void each_target(Self& self, double* made, const Each& each);

    std::size_t features_, outputs_ = 0, own_ = 0, threads_ = 1;
    BankDesign design_;
    bool standardised_, binned_;
    FeatureBounds bounds_;
    std::vector<TargetBounds> target_bounds_;  // of every target
    double begun_ = 0.0;                       // how often learning began anew
    Standardiser standardiser_;
    Bins bins_;
    std::vector<FeatureMap> maps_;
    std::vector<Expert> experts_;
    std::vector<LateCombiner> combiners_;
    ErrorRecord errors_;
};

template <class Self, class Visitor>
void Bank::fields(std::size_t features, const BankDesign& design, Self* self, Visitor&& visit) {
    const std::size_t experts = design.experts.size();
    if (design.bounded)
        FeatureBounds::fields(features, self ? &self->bounds_ : nullptr, part_of(visit, "bounds"));
    if (is_standardised(design))
        Standardiser::fields(features, self ? &self->standardiser_ : nullptr,
                             part_of(visit, "standardiser"));
    if (is_binned(design))
        Bins::fields(features, self ? &self->bins_ : nullptr, part_of(visit, "bins"));
    for (std::size_t i = 0; i < design.maps.size(); ++i)
        FeatureMap::fields(design.maps[i].kind, features, design.maps[i].count,
                           self ? &self->maps_[i] : nullptr,
                           part_of(visit, "map " + std::to_string(i)));
    for (std::size_t k = 0; k < experts; ++k)
        expert_fields(design.experts[k], place_of(design, features, k),
                      self ? &self->experts_[k] : nullptr,
                      part_of(visit, "expert " + std::to_string(k)));
    std::size_t output = 0;
    for (std::size_t c = 0; c < design.targets.size(); ++c) {
        if (!has_bounds(design, design.targets[c])) continue;
        if (c == 0)
            visit.array({"begun", {}, 0.0, kMostRows},
                        [=](std::size_t) -> auto& { return self->begun_; });
        TargetBounds::fields(self ? &self->target_bounds_[c] : nullptr,
                             part_of(visit, "bounds " + std::to_string(c)));
    }
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
