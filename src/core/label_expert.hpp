// An expert that knows how likely each class of a label is. It keeps one set of statistics per label,
// a `Kind`, and predicts margins (p1 - p0) and an output per class from it. A class that was never
// learned has probability 0, so nothing depends on how many are announced. Outputs that are
// numbers are predicted 0.
//
// A Kind has
//     Kind(features)
//     void predict(const LabelRow&, double* p) const;        how likely each class is
//     void learn(const LabelRow&, std::size_t c, double gain, const double* p);   the row that was
//                                                            predicted just before, p as predicted
//     void pass(double discount);                            time passes; changes no prediction
//     void add_features(count), add_classes(count), fields(features, classes, self, visit), settle()
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "bins.hpp"
#include "expert.hpp"
#include "fading.hpp"
#include "label_code.hpp"

namespace dfop {

struct LabelRow {
    const double* x;
    const double* z;           // standardised; none where no expert needs it
    const std::uint8_t* bins;  // of every value; none where no expert needs it
};

template <class Kind>
class LabelExpert {
public:
    LabelExpert(std::size_t features, double mu) : features_(features), fading_(mu) {}

    void learn(const ExpertRows& rows, double* predictions) {
        for (std::size_t t = 0; t < rows.count; ++t) {
            const double gain = fading_.gain(rows.elapsed[t], rows.age[t]);
            const double discount = fading_.discount(rows.elapsed[t]);
            const double* labels = rows.labels + t * rows.width;
            double* out = predictions + t * rows.width;
            for (std::size_t i = 0; i < codes_.size(); ++i) {
                double* p = probabilities(codes_[i].classes());
                kinds_[i].predict(row(rows, t), p);
                codes_[i].write(p, out);
                if (gain != 0.0) kinds_[i].pass(discount);
                if (gain > 0.0) {
                    const std::size_t c = codes_[i].class_of(labels);
                    if (c != LabelCode::kNone) kinds_[i].learn(row(rows, t), c, gain, p);
                }
                labels += codes_[i].outputs();
                out += codes_[i].outputs();
            }
        }
    }
    void predict(const ExpertRows& rows, double* predictions) const {
        for (std::size_t t = 0; t < rows.count; ++t)
            for (std::size_t i = 0; i < codes_.size(); ++i) {
                double* p = probabilities(codes_[i].classes());
                kinds_[i].predict(row(rows, t), p);
                codes_[i].write(p, predictions);
                predictions += codes_[i].outputs();
            }
    }
    void forget(double elapsed) {
        for (Kind& kind : kinds_) kind.pass(fading_.discount(elapsed));
    }

    // Only of a kind that keeps histograms: their edges were drawn anew.
    void rebin(const Bins::Moves& moves, const Bins& bins) {
        for (Kind& kind : kinds_) kind.rebin(moves, bins);
    }

    void add_features(std::size_t count) {
        features_ += count;
        for (Kind& kind : kinds_) kind.add_features(count);
    }
    void add_outputs(std::size_t count) {
        LabelCode& code = codes_.back();
        const std::size_t before = code.classes();
        (code.numbers > 0 ? code.numbers : code.one_hot) += count;
        kinds_.back().add_classes(code.classes() - before);
    }
    void add_target(const TargetDesign& target) {
        if (!codes_.empty() && joins_label(codes_.back(), target)) {
            add_outputs(target.outputs);
            return;
        }
        codes_.push_back(code_of(target));
        kinds_.emplace_back(features_);
        kinds_.back().add_classes(codes_.back().classes());
    }
    void drop_first_target() {
        LabelCode& first = codes_.front();
        if (first.margin && first.one_hot > 0) {  // the classes go on without their margin
            first.margin = false;
            return;
        }
        codes_.erase(codes_.begin());
        kinds_.erase(kinds_.begin());
    }

    template <class Self, class Visitor>
    static void fields(std::size_t features, const std::vector<TargetDesign>& targets, Self* self,
                       Visitor&& visit) {
        const std::vector<LabelCode> codes = self ? self->codes_ : label_codes(targets);
        for (std::size_t i = 0; i < codes.size(); ++i)
            Kind::fields(features, codes[i].classes(), self ? &self->kinds_[i] : nullptr,
                         part_of(visit, "label " + std::to_string(i)));
    }
    void settle() {
        for (std::size_t i = 0; i < kinds_.size(); ++i)
            settle_part("label " + std::to_string(i), [&] { kinds_[i].settle(); });
    }

private:
    static LabelRow row(const ExpertRows& rows, std::size_t t) {
        const std::size_t first = t * rows.features;
        return {rows.X + first, rows.z ? rows.z + first : nullptr,
                rows.bins ? rows.bins + first : nullptr};
    }
    static double* probabilities(std::size_t classes) {
        thread_local std::vector<double> p;
        if (p.size() < classes) p.resize(classes);
        return p.data();
    }

    std::size_t features_;
    Fading fading_;
    std::vector<LabelCode> codes_;
    std::vector<Kind> kinds_;  // of every label
};

}  // namespace dfop
