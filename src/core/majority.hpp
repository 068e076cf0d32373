// How often each class came. Where nothing else can be learned, nothing is better.
#pragma once

#include <cstddef>

#include "fading_weights.hpp"
#include "label_expert.hpp"

namespace dfop {

class Majority {
public:
    explicit Majority(std::size_t /*features*/) {}

    void add_features(std::size_t) {}
    void add_classes(std::size_t count) { weights_.grow(count); }

    void predict(const LabelRow&, double* p) const {
        double sum = 0.0;
        for (std::size_t c = 0; c < weights_.size(); ++c) sum += weights_[c];
        for (std::size_t c = 0; c < weights_.size(); ++c)
            p[c] = sum > 0.0 ? weights_[c] / sum : 0.0;
    }
    void learn(const LabelRow&, std::size_t c, double gain, const double* /*p*/) {
        weights_.rescale();
        weights_.add(c, gain * weights_.unit());
    }
    void pass(double discount) { weights_.pass(discount); }

    template <class Self, class Visitor>
    static void fields(std::size_t /*features*/, std::size_t classes, Self* self, Visitor&& visit) {
        FadingWeights::fields(classes, self ? &self->weights_ : nullptr, visit);
    }
    void settle() { weights_.settle(); }

private:
    FadingWeights weights_;
};

}  // namespace dfop
