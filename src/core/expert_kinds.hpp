// The kinds of experts that a bank can have. A new kind is a class that is an ExpertKind, a name in
// ExpertDesign::Kind and in the binding, and a line in each of the places below.
#pragma once

#include <cstddef>
#include <variant>
#include <vector>

#include "additive.hpp"
#include "discriminant.hpp"
#include "expert.hpp"
#include "expert_filter.hpp"
#include "expert_given.hpp"
#include "expert_no_change.hpp"
#include "expert_sketch.hpp"
#include "forest.hpp"
#include "gaussian_bayes.hpp"
#include "histogram_bayes.hpp"
#include "interactions.hpp"
#include "label_expert.hpp"
#include "majority.hpp"
#include "prototypes.hpp"

namespace dfop {

template <ExpertKind... Kinds>
using AnyOf = std::variant<Kinds...>;

using Expert =
    AnyOf<FilterExpert, NoChange, Forest, LabelExpert<Majority>, LabelExpert<GaussianBayes>,
          LabelExpert<HistogramBayes>, LabelExpert<Discriminant>, LabelExpert<Prototypes>, Given,
          SketchExpert, Additive, Interactions>;

// Whether a kind reads the standardised rows; filters have them from their map.
inline bool needs_standardised(ExpertDesign::Kind kind) {
    using enum ExpertDesign::Kind;
    return kind == discriminant || kind == prototypes || kind == interactions;
}

// Whether a kind reads the bins of the rows.
inline bool needs_bins(ExpertDesign::Kind kind) {
    using enum ExpertDesign::Kind;
    return kind == quick_forest || kind == careful_forest || kind == residual_forest ||
           kind == histogram_bayes || kind == additive;
}

// What an expert of a bank is made for, beside its own design.
struct ExpertPlace {
    std::size_t features;  // of the rows
    std::size_t inputs;    // what the map of a filter makes of them
    bool intercept;        // of a filter
    const std::vector<TargetDesign>& targets;
};

inline Forest::Kind forest_kind(ExpertDesign::Kind kind) {
    using enum ExpertDesign::Kind;
    if (kind == residual_forest) return Forest::Kind::residual;
    return kind == quick_forest ? Forest::Kind::quick : Forest::Kind::careful;
}

template <class Kind, class Any, class Visitor>
void label_fields(const ExpertPlace& place, Any* expert, Visitor&& visit) {
    LabelExpert<Kind>::fields(place.features, place.targets, std::get_if<LabelExpert<Kind>>(expert),
                              visit);
}

// The fields of an expert, or without `expert` those of one that does not exist yet. `Any` is
// Expert or const Expert.
template <class Any, class Visitor>
void expert_fields(const ExpertDesign& design, const ExpertPlace& place, Any* expert,
                   Visitor&& visit) {
    using enum ExpertDesign::Kind;
    switch (design.kind) {
        case filter:
            return FilterExpert::fields(place.inputs, outputs_of(place.targets), place.intercept,
                                        std::get_if<FilterExpert>(expert), visit);
        case no_change:
            return NoChange::fields(outputs_of(place.targets), std::get_if<NoChange>(expert),
                                    visit);
        case quick_forest:
        case careful_forest:
        case residual_forest:
            return Forest::fields(forest_kind(design.kind), place.targets,
                                  std::get_if<Forest>(expert), visit);
        case majority: return label_fields<Majority>(place, expert, visit);
        case gaussian_bayes: return label_fields<GaussianBayes>(place, expert, visit);
        case histogram_bayes: return label_fields<HistogramBayes>(place, expert, visit);
        case discriminant: return label_fields<Discriminant>(place, expert, visit);
        case prototypes: return label_fields<Prototypes>(place, expert, visit);
        case given: return;  // it has no state
        case sketch:
            return SketchExpert::fields(place.features, outputs_of(place.targets), place.intercept,
                                        std::get_if<SketchExpert>(expert), visit);
        case additive:
            return Additive::fields(place.features, outputs_of(place.targets),
                                    std::get_if<Additive>(expert), visit);
        case interactions:
            return Interactions::fields(place.features, place.targets, place.intercept,
                                        std::get_if<Interactions>(expert), visit);
    }
}

}  // namespace dfop
