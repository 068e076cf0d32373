// What the classes of a label, or other things made of rows, count while rows fade. Time makes new
// rows heavier instead of old ones lighter, so it costs nothing and changes no prediction: only a
// learned row does.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "fields.hpp"

namespace dfop {

class FadingWeights {
public:
    std::size_t size() const { return weights_.size(); }
    void grow(std::size_t count) {
        weights_.resize(weights_.size() + count, 0.0);
        logarithms_.resize(weights_.size(), 0.0);
    }

    bool counts(std::size_t c) const { return weights_[c] > 0.0; }
    double operator[](std::size_t c) const { return weights_[c]; }
    double logarithm(std::size_t c) const { return logarithms_[c]; }
    // What a new row of gain 1 counts.
    double unit() const { return unit_; }

    void pass(double discount) { unit_ = std::min(unit_ / discount, kLargestUnit); }

    // To be called before a row is learned: where the unit has become large, all weights shrink.
    // Returns by how much, a power of two.
    double rescale() {
        if (unit_ < kRescaled) return 1.0;
        const double shrink = std::ldexp(1.0, -std::ilogb(unit_));
        unit_ *= shrink;
        for (std::size_t c = 0; c < size(); ++c) set(c, weights_[c] * shrink);
        return shrink;
    }

    void add(std::size_t c, double weight) { set(c, weights_[c] + weight); }
    void set(std::size_t c, double weight) {
        weights_[c] = weight < kForgotten ? 0.0 : weight;
        logarithms_[c] = counts(c) ? std::log(weights_[c]) : 0.0;
    }

    // From the logarithm of how likely each class that counts is, up to a constant, to how likely.
    void normalise(double* p) const {
        double largest = -kLargestSquare, sum = 0.0;
        for (std::size_t c = 0; c < size(); ++c)
            if (counts(c)) largest = std::max(largest, p[c]);
        for (std::size_t c = 0; c < size(); ++c) {
            const bool likely = counts(c) && p[c] > largest - kNothing;
            p[c] = likely ? std::exp(p[c] - largest) : 0.0;
            sum += p[c];
        }
        if (sum > 0.0)
            for (std::size_t c = 0; c < size(); ++c) p[c] /= sum;
    }

    template <class Self, class Visitor>
    static void fields(std::size_t size, Self* self, Visitor&& visit) {
        visit.array({"unit", {}, 1.0, kLargestUnit},
                    [=](std::size_t) -> auto& { return self->unit_; });
        visit.array({"weights", {size}, 0.0, kLargestSquare},
                    [=](std::size_t c) -> auto& { return self->weights_[c]; });
    }
    void settle() {
        for (std::size_t c = 0; c < size(); ++c) {
            hold(weights_[c] == 0.0 || weights_[c] >= kForgotten, "weights: faded to nothing");
            set(c, weights_[c]);
        }
    }

private:
    static constexpr double kRescaled = 0x1p300, kLargestUnit = 1e250;
    // What counts less is as if it had never come.
    static constexpr double kForgotten = 1e-200;
    // exp(-40) is below the last digit of 1.
    static constexpr double kNothing = 40.0;

    double unit_ = 1.0;
    std::vector<double> weights_, logarithms_;
};

}  // namespace dfop
