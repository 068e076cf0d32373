// What all kinds of experts of a bank have in common: the rows as they see them, how one is named
// in a design, and what a kind must be able to do. The kinds themselves are listed in
// expert_kinds.hpp.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>

#include "bins.hpp"
#include "filter.hpp"
#include "target.hpp"

namespace dfop {

// The rows of a block. All of it was known before the row's label.
struct ExpertRows {
    std::size_t count, features;
    const double* X;             // as given, row t at [t * features]
    const double* z;             // standardised by the rows before it; only if some kind needs it
    const double* const* views;  // the features that each map makes of the rows
    const std::uint8_t* bins;    // the bin of every value, as X; only if some kind needs it
    const Bins* edges;           // of the bins; they stand still within a block
    const double* base;          // predictions of the expert that this one corrects, as labels
    const double* given;         // answers from outside, see Bank::learn; none: nobody has one
    std::size_t own;             // how many experts give answers from outside
    const unsigned char* seen;   // a row that is not seen is predicted only
    PerRow elapsed, age;         // see Bank::learn
    const double* labels;        // row t, output o at [t * width + o]; far-out numbers drawn in
    std::size_t width;           // outputs of all targets
};

struct ExpertDesign {
    // In the order of the names in binding_bank.cpp.
    enum class Kind {
        filter,
        no_change,
        quick_forest,
        careful_forest,
        residual_forest,
        majority,
        gaussian_bayes,
        histogram_bayes,
        discriminant,
        prototypes,
        given,
        sketch,
        additive,
        interactions
    };

    Kind kind;
    std::size_t map;  // what a filter sees; of a residual forest, the filter that it corrects; of a
                      // given one, which of those it is
    double mu;        // what it forgets with every row
    double walk;      // how far the weights of a filter may walk with every row, see Filter::learn
};

// A kind of expert. Predictions of row t, output o are at [t * width + o].
template <class E>
concept ExpertKind = requires(E expert, const E& fixed, const ExpertRows& rows, double* predictions,
                              const TargetDesign& target) {
    expert.learn(rows, predictions);   // predicts each row before its label is read, then learns it
    fixed.predict(rows, predictions);  // neither labels nor `seen` and times are read
    expert.forget(double{});           // time passes without a row
    expert.add_features(std::size_t{});  // as if they had been there, always 0
    expert.add_outputs(std::size_t{});   // to the last target: as if they had been there, always 0
    expert.add_target(target);           // behind those there are, before any label was learned
    expert.drop_first_target();
    expert.settle();  // after its fields were taken over, see fields.hpp
};

}  // namespace dfop
