// What an expert sees of a row: the features themselves, or curves of the standardised ones.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <vector>

#include "fields.hpp"
#include "hash.hpp"

namespace dfop {

class FeatureMap {
public:
    enum class Kind { linear, fourier, products };

    // Fourier: `count` random features cos(w'z + phase), w Gaussian of variance
    // 1 / (width^2 features), the kernel exp(-|z - z'|^2 / (2 width^2 features)).
    FeatureMap(Kind kind, std::size_t features, double width, std::size_t count)
        : kind_(kind), width_(width), count_(count) {
        if (kind_ == Kind::fourier)
            for (std::size_t i = 0; i < count_; ++i) phases_.push_back(phase(i));
        add_features(features);
    }

    Kind kind() const { return kind_; }
    double width() const { return width_; }
    std::size_t size() const { return size(kind_, features_, count_); }

    // Features that come later enter a Fourier map with the width of the first ones.
    void add_features(std::size_t count) {
        if (kind_ == Kind::fourier) {
            if (features_ == 0 && count > 0)
                unit_ = 1.0 / (width_ * std::sqrt(static_cast<double>(count)));
            for (std::size_t j = features_; j < features_ + count; ++j)
                for (std::size_t i = 0; i < count_; ++i)
                    frequencies_.push_back(unit_ * hash_gaussian(j, i));
        }
        features_ += count;
    }

    // Of one standardised row; the linear map has nothing to do.
    void apply(const double* z, double* out) const {
        if (kind_ == Kind::fourier) {
            for (std::size_t i = 0; i < count_; ++i) out[i] = phases_[i];
            for (std::size_t j = 0; j < features_; ++j) {
                const double* w = frequencies_.data() + j * count_;
                for (std::size_t i = 0; i < count_; ++i) out[i] += w[i] * z[j];
            }
            for (std::size_t i = 0; i < count_; ++i) out[i] = std::cos(out[i]);
        } else if (kind_ == Kind::products) {
            for (std::size_t j = 0; j < features_; ++j) {  // a new feature adds at the end
                *out++ = z[j];
                for (std::size_t i = 0; i <= j; ++i) *out++ = z[i] * z[j];
            }
        }
    }

    // How many features a map makes of `features`.
    static std::size_t size(Kind kind, std::size_t features, std::size_t count) {
        if (kind == Kind::linear) return features;
        if (kind == Kind::fourier) return count;
        return bounded_size(features) * (features + 3) / 2;
    }

    // The random numbers, for files: another machine's cos and log may differ in the last digit.
    template <class Self, class Visitor>
    static void fields(Kind kind, std::size_t features, std::size_t count, Self* self,
                       Visitor&& visit) {
        if (kind != Kind::fourier) return;
        visit.array({"unit", {}, 0.0, 1e6}, [=](std::size_t) -> auto& { return self->unit_; });
        visit.array({"phases", {count}, 0.0, 7.0},
                    [=](std::size_t i) -> auto& { return self->phases_[i]; });
        visit.array({"frequencies", {features, count}, -1e8, 1e8},
                    [=](std::size_t i) -> auto& { return self->frequencies_[i]; });
    }

    // The random numbers must be those of this design, up to a machine's last digits.
    void settle() const {
        if (kind_ != Kind::fourier) return;
        if (features_ == 0) {
            hold(unit_ == 0.0, "unit: a map of no features has none");
        } else {  // the unit tells how many features there were at first
            const double scaled = unit_ * width_;
            const double first = scaled > 1e-100 && scaled < 1.001 ? 1.0 / (scaled * scaled) : 0.0;
            hold(0.999 < first && first < static_cast<double>(features_) + 0.001 &&
                     std::fabs(first - std::round(first)) < 1e-6 * first,
                 "unit: not that of a map of this width");
        }
        for (std::size_t i = 0; i < count_; ++i)
            hold(std::fabs(phases_[i] - phase(i)) < 1e-8, "phases: not those of this map");
        for (std::size_t j = 0; j < features_; ++j)
            for (std::size_t i = 0; i < count_; ++i) {
                const double expected = unit_ * hash_gaussian(j, i);
                hold(std::fabs(frequencies_[j * count_ + i] - expected) <=
                         1e-6 * std::fabs(expected) + 1e-9 * unit_,
                     "frequencies: not those of this map");
            }
    }

private:
    static constexpr std::uint64_t kPhases = 1u << 31;

    static double phase(std::size_t i) { return 2.0 * std::numbers::pi * hash_uniform(kPhases, i); }

    Kind kind_;
    double width_, unit_ = 0.0;
    std::size_t count_, features_ = 0;
    std::vector<double> phases_, frequencies_;  // features x count
};

}  // namespace dfop
