// How a bank is made of its design, and how it grows.
#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include "bank.hpp"

namespace dfop {

Bank::Bank(std::size_t features, const BankDesign& design)
    : features_(features), design_(design), standardised_(is_standardised(design)),
      binned_(is_binned(design)), bounds_(design.bounded ? features : 0), standardiser_(features),
      bins_(binned_ ? features : 0), errors_(design.experts.size()) {
    for (const MapDesign& map : design_.maps)
        maps_.emplace_back(map.kind, features, map.width, map.count);
    for (const ExpertDesign& expert : design_.experts) {
        experts_.push_back(fresh_expert(expert));
        own_ += expert.kind == ExpertDesign::Kind::given;
    }
    design_.targets.clear();
    for (const TargetDesign& target : design.targets) add_target(target);
}

Expert Bank::fresh_expert(const ExpertDesign& expert) const {
    using enum ExpertDesign::Kind;
    switch (expert.kind) {
        case filter:
            return FilterExpert(
                expert, Filter(maps_[expert.map].size(), 0, design_.intercept,
                               design_.prior_variance, design_.relative_prior, design_.cap));
        case no_change: return NoChange();
        case quick_forest:
        case careful_forest:
        case residual_forest: return Forest(forest_kind(expert.kind), features_);
        case majority: return LabelExpert<Majority>(features_, expert.mu);
        case gaussian_bayes: return LabelExpert<GaussianBayes>(features_, expert.mu);
        case histogram_bayes: return LabelExpert<HistogramBayes>(features_, expert.mu);
        case discriminant: return LabelExpert<Discriminant>(features_, expert.mu);
        case prototypes: return LabelExpert<Prototypes>(features_, expert.mu);
        case additive: return Additive(features_);
        case interactions:
            return Interactions(expert.mu, features_, design_.intercept, design_.cap);
        case given: return Given(expert.map);
        case sketch:
            return SketchExpert(
                expert, Sketch(features_, 0, SketchExpert::kDirections, design_.intercept,
                               design_.prior_variance, design_.relative_prior, design_.cap));
    }
    throw std::invalid_argument("there is no such kind of expert");
}

void Bank::add_target(const TargetDesign& target) {
    design_.targets.push_back(target);
    target_bounds_.emplace_back();
    combiners_.emplace_back(target.coding, target.outputs, design_.experts.size());
    if (target.late) combiners_.back().open_late();
    outputs_ += target.outputs;
    for (Expert& expert : experts_)
        std::visit([&](auto& kind) { kind.add_target(target); }, expert);
}

void Bank::add_features(std::size_t count) {
    features_ += count;
    if (design_.bounded) bounds_.add_features(count);
    standardiser_.add_features(count);
    if (binned_) bins_.add_features(count);
    for (FeatureMap& map : maps_) map.add_features(count);
    for (std::size_t k = 0; k < experts_.size(); ++k) {
        std::size_t added = count;
        if (const auto* filter = std::get_if<FilterExpert>(&experts_[k]))
            added = maps_[design_.experts[k].map].size() - filter->filter().features();
        if (added > 0) std::visit([&](auto& kind) { kind.add_features(added); }, experts_[k]);
    }
}

void Bank::add_outputs(std::size_t count) {
    outputs_ += count;
    design_.targets.back().outputs += count;
    combiners_.back().add_outputs(count);
    for (Expert& expert : experts_)
        std::visit([&](auto& kind) { kind.add_outputs(count); }, expert);
}

void Bank::add_number_targets(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) add_target({Coding::number, 1});
}

void Bank::drop_first_target() {
    for (Expert& expert : experts_)
        std::visit([](auto& kind) { kind.drop_first_target(); }, expert);
    outputs_ -= design_.targets.front().outputs;
    target_bounds_.erase(target_bounds_.begin());
    combiners_.erase(combiners_.begin());
    design_.targets.erase(design_.targets.begin());
}

void Bank::drop_last_output() {
    --outputs_;
    --design_.targets.back().outputs;
    combiners_.back().drop_last_output();
    for (Expert& expert : experts_) std::get<FilterExpert>(expert).drop_last_output();
}

// Gives up all that labels have taught. What is known of the features stays, and of the targets what
// is believed of them.
void Bank::begin_anew() {
    const auto targets = std::exchange(design_.targets, {});
    const auto believed = std::exchange(target_bounds_, {});
    outputs_ = 0;
    combiners_.clear();
    for (std::size_t k = 0; k < experts_.size(); ++k)
        experts_[k] = fresh_expert(design_.experts[k]);
    for (const TargetDesign& target : targets) add_target(target);
    target_bounds_ = believed;
    errors_ = ErrorRecord(experts_.size());
    if (binned_) rebin_experts(Bins::Moves(features_ * Bins::kBins, 0));
    begun_ = std::min(begun_ + 1.0, kMostRows);
}

void Bank::settle() {
    settle_part("bounds", [&] { bounds_.settle(); });
    for (std::size_t c = 0; c < target_bounds_.size(); ++c)
        settle_part("bounds " + std::to_string(c), [&] { target_bounds_[c].settle(); });
    if (binned_) settle_part("bins", [&] { bins_.settle(); });
    for (std::size_t i = 0; i < maps_.size(); ++i)
        settle_part("map " + std::to_string(i), [&] { maps_[i].settle(); });
    for (std::size_t k = 0; k < experts_.size(); ++k)
        settle_part("expert " + std::to_string(k),
                    [&] { std::visit([](auto& kind) { kind.settle(); }, experts_[k]); });
    std::size_t output = 0;
    for (std::size_t c = 0; c < combiners_.size(); ++c) {
        settle_part("target " + std::to_string(c), [&] { combiners_[c].settle(); });
        for (std::size_t o = 0; o < combiners_[c].outputs(); ++o, ++output)
            settle_part("output " + std::to_string(output),
                        [&] { combiners_[c].settle_output(o); });
    }
    settle_part("errors", [&] { errors_.settle(); });
}

std::vector<double> Bank::weights() const {
    std::vector<double> all;
    for (const LateCombiner& combiner : combiners_)
        for (std::size_t o = 0; o < combiner.outputs(); ++o) {
            const std::vector<double> of_output = combiner.expert_weights(o);
            all.insert(all.end(), of_output.begin(), of_output.end());
        }
    return all;
}

}  // namespace dfop
