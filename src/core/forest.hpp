// Trees that learn the same rows with different luck, as one expert: the mean of what they say.
//
// A tree takes a row not at all, once or twice, by a hash of the row's number and the tree. Nothing
// is forgotten; trees cut what does not hold any more. Three kinds:
//   quick:    splits on little evidence and looks for it often;
//   careful:  splits on strong evidence;
//   residual: careful trees on what a linear expert leaves over; they predict the two together.
// Of a class label, one set of trees counts classes and makes the outputs of all its codings; the
// residual trees of a label learn the outputs of each coding, as numbers, if there are at most 4.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "combiner.hpp"
#include "expert.hpp"
#include "fields.hpp"
#include "target.hpp"
#include "tree.hpp"

namespace dfop {

class Forest {
public:
    enum class Kind { quick, careful, residual };

    Forest(Kind kind, std::size_t features) : kind_(kind), features_(features) {}

    void learn(const ExpertRows& rows, double* predictions);
    void predict(const ExpertRows& rows, double* predictions) const;
    void forget(double) {}

    void add_features(std::size_t count);
    void add_outputs(std::size_t count) { targets_.back().outputs += count; }
    void add_target(const TargetDesign& target);
    void drop_first_target();
    void rebin(const Bins::Moves& moves);

    template <class Self, class Visitor>
    static void fields(Kind kind, const std::vector<TargetDesign>& targets, Self* self,
                       Visitor&& visit);
    void settle();

private:
    // Of more targets, the further ones are not learned: what grows has a bound.
    static constexpr std::size_t kMostTargets = 4;

    // The trees of one target of numbers, or of the outputs of one coding of a label.
    struct NumberTrees {
        Range range;              // of the labels, which clips what residual trees start from
        std::size_t outputs = 0;  // learned: of a one-hot coding, those of the classes met
        std::vector<Tree> trees;
    };
    class Paths;
    struct Workspace;
    static Workspace& workspace();

    static std::size_t trees_of(Kind kind);
    static bool has_label(const std::vector<TargetDesign>& targets);
    // Whether target c has trees of its own.
    static bool has_trees(Kind kind, const std::vector<TargetDesign>& targets, std::size_t c) {
        return c < kMostTargets && (kind == Kind::residual || targets[c].coding == Coding::number);
    }
    // Whether residual trees learn a coding of so many outputs: two classes have a margin.
    static bool active(Coding coding, std::size_t outputs) {
        return coding != Coding::one_hot || (outputs >= 3 && outputs <= kMostSums);
    }

    Tree fresh_tree(Teaching teaching, std::size_t k) const;
    void plant();
    double luck(std::size_t k, double row) const;
    void stage_weights(const ExpertRows& rows, Workspace& space) const;
    // Numbers: of target c, whose outputs begin at `first`.
    void stage_numbers(std::size_t c, std::size_t first, const ExpertRows& rows, Workspace& space,
                       double* predictions);
    double start_of(const NumberTrees& numbers, const ExpertRows& rows, std::size_t at) const;
    void learn_numbers(std::size_t c, const ExpertRows& rows, Workspace& space);
    void predict_numbers(std::size_t c, std::size_t first, const ExpertRows& rows, Workspace& space,
                         double* predictions) const;
    // Adds the mean of the trees to where they start from.
    void add_numbers(const Workspace& space, std::size_t c, std::size_t first,
                     const ExpertRows& rows, double* predictions) const;
    // Labels.
    std::size_t class_of(const double* labels) const;
    void learn_label(const ExpertRows& rows, Workspace& space, double* predictions);
    void predict_label(const ExpertRows& rows, Workspace& space, double* predictions) const;
    void write_label(const Workspace& space, std::size_t classes, const ExpertRows& rows,
                     double* predictions) const;

    Kind kind_;
    std::size_t features_;
    double rows_ = 0.0;  // learned
    std::vector<TargetDesign> targets_;
    std::vector<NumberTrees> numbers_;  // of every target; without trees where it has none
    std::vector<Tree> label_;
};

template <class Self, class Visitor>
void Forest::fields(Kind kind, const std::vector<TargetDesign>& targets, Self* self,
                    Visitor&& visit) {
    visit.array({"rows", {}, 0.0, kMostRows}, [=](std::size_t) -> auto& { return self->rows_; });
    for (std::size_t c = 0; c < targets.size(); ++c) {
        if (!has_trees(kind, targets, c)) continue;
        auto* numbers = self ? &self->numbers_[c] : nullptr;
        const std::string name = "target " + std::to_string(c) + " ";
        if (kind == Kind::residual) {
            visit.array({name + "outputs", {}, 0.0, kMostRows},
                        [=](std::size_t) -> auto& { return numbers->outputs; });
            Range::fields(numbers ? &numbers->range : nullptr, part_of(visit, name + "range"));
        }
        for (std::size_t k = 0; k < trees_of(kind); ++k)
            Tree::fields(numbers ? &numbers->trees[k] : nullptr,
                         part_of(visit, name + "tree " + std::to_string(k)));
    }
    if (kind == Kind::residual || !has_label(targets)) return;
    for (std::size_t k = 0; k < trees_of(kind); ++k)
        Tree::fields(self ? &self->label_[k] : nullptr,
                     part_of(visit, "label tree " + std::to_string(k)));
}

}  // namespace dfop
