// The expert that is a sketch of a linear filter, for rows so wide that a filter would be too slow.
#pragma once

#include <cstddef>
#include <vector>

#include "expert.hpp"
#include "fading.hpp"
#include "sketch.hpp"

namespace dfop {

class SketchExpert {
public:
    static constexpr std::size_t kDirections = 20;

    SketchExpert(const ExpertDesign& design, Sketch sketch)
        : fading_(design.mu), sketch_(std::move(sketch)) {}

    void learn(const ExpertRows& rows, double* predictions) {
        const Targets y{rows.labels, static_cast<std::ptrdiff_t>(rows.width), 1};
        for (std::size_t t = 0; t < rows.count; ++t) {
            const double discount = fading_.discount(rows.elapsed[t]);
            const double gain = fading_.gain(rows.elapsed[t], rows.age[t]);
            sketch_.learn(rows.X + t * rows.features, 1, y.from(t), {&discount, 0}, {&gain, 0},
                          predictions + t * rows.width);
        }
    }
    void predict(const ExpertRows& rows, double* predictions) const {
        sketch_.predict(rows.X, rows.count, predictions);
    }
    void forget(double elapsed) { sketch_.forget(fading_.discount(elapsed)); }

    void add_features(std::size_t count) { sketch_.add_features(count); }
    void add_outputs(std::size_t count) {
        outputs_.back() += count;
        sketch_.add_outputs(count);
    }
    void add_target(const TargetDesign& target) {
        outputs_.push_back(target.outputs);
        sketch_.add_outputs(target.outputs);
    }
    void drop_first_target() {
        for (std::size_t o = 0; o < outputs_.front(); ++o) sketch_.drop_output(0);
        outputs_.erase(outputs_.begin());
    }

    template <class Self, class Visitor>
    static void fields(std::size_t features, std::size_t outputs, bool intercept, Self* self,
                       Visitor&& visit) {
        Sketch::fields(features, outputs, kDirections, intercept, self ? &self->sketch_ : nullptr,
                       visit);
    }
    void settle() { sketch_.settle(); }

private:
    Fading fading_;
    Sketch sketch_;
    std::vector<std::size_t> outputs_;  // of every target
};

}  // namespace dfop
