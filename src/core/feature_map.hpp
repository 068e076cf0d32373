// What an expert sees of a row: the features themselves, or curves of the standardised ones.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <string>
#include <vector>

namespace dfop {

class FeatureMap {
public:
    enum class Kind { linear, fourier, products };

    // Fourier: `count` random features cos(w'z + phase), w Gaussian of variance
    // 1 / (width^2 features), the kernel exp(-|z - z'|^2 / (2 width^2 features)).
    FeatureMap(Kind kind, std::size_t features, double width, std::size_t count)
        : kind_(kind), width_(width), count_(count) {
        if (kind_ == Kind::fourier)
            for (std::size_t i = 0; i < count_; ++i)
                phases_.push_back(2.0 * std::numbers::pi * uniform(kPhases, i));
        add_features(features);
    }

    Kind kind() const { return kind_; }
    double width() const { return width_; }
    std::size_t size() const {
        if (kind_ == Kind::linear) return features_;
        return kind_ == Kind::fourier ? count_ : features_ * (features_ + 3) / 2;
    }

    // Features that come later enter a Fourier map with the width of the first ones.
    void add_features(std::size_t count) {
        if (kind_ == Kind::fourier) {
            if (features_ == 0 && count > 0)
                unit_ = 1.0 / (width_ * std::sqrt(static_cast<double>(count)));
            for (std::size_t j = features_; j < features_ + count; ++j)
                for (std::size_t i = 0; i < count_; ++i)
                    frequencies_.push_back(unit_ * gaussian(j, i));
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

    // The random numbers, for files: another machine's cos and log may differ in the last digit.
    std::vector<double> snapshot() const {
        std::vector<double> state{unit_};
        state.insert(state.end(), phases_.begin(), phases_.end());
        state.insert(state.end(), frequencies_.begin(), frequencies_.end());
        return state;
    }

    void restore(const std::vector<double>& state) {
        auto from = state.begin();
        unit_ = *from++;
        for (std::vector<double>* part : {&phases_, &frequencies_})
            for (double& value : *part) value = *from++;
    }

    std::size_t state_size() const { return 1 + phases_.size() + frequencies_.size(); }

private:
    static constexpr std::uint64_t kPhases = 1u << 31;

    // In (0, 1), from the place alone (the mixing step of splitmix64, twice).
    static double uniform(std::uint64_t a, std::uint64_t b) {
        const std::uint64_t bits = mix(mix(a + 0x9e3779b97f4a7c15u) + b);
        return (static_cast<double>(bits >> 11) + 0.5) * 0x1p-53;
    }

    static std::uint64_t mix(std::uint64_t x) {
        x += 0x9e3779b97f4a7c15u;
        x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
        x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
        return x ^ (x >> 31);
    }

    // Box and Muller.
    static double gaussian(std::uint64_t j, std::uint64_t i) {
        return std::sqrt(-2.0 * std::log(uniform(2 * j, i))) *
               std::cos(2.0 * std::numbers::pi * uniform(2 * j + 1, i));
    }

    Kind kind_;
    double width_, unit_ = 0.0;
    std::size_t count_, features_ = 0;
    std::vector<double> phases_, frequencies_;  // features x count
};

}  // namespace dfop
