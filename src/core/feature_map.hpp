// What a filter of a bank sees of a row: the features themselves, or curves of the standardised
// ones. The curves of a map are `count` waves, cos(w'z + phase), with random w and phase.
//   fourier  every wave sees all features: w Gaussian of variance 1 / (width^2 features), the
//            kernel exp(-|z - z'|^2 / (2 width^2 features))
//   sparse   every wave sees two features, or the only one: sums of curves of few features, which
//            need far fewer waves
//   products the features and their products
//   ranks    in which bin of its column a feature is, from -1 to 1: made by the bins, see bank.cpp
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <vector>

#include "fields.hpp"
#include "hash.hpp"
#include "kernel.hpp"

namespace dfop {

class FeatureMap {
public:
    enum class Kind { linear, fourier, products, sparse, ranks };

    FeatureMap(Kind kind, std::size_t features, double width, std::size_t count)
        : kind_(kind), width_(width), count_(count) {
        if (has_waves(kind_))
            for (std::size_t i = 0; i < count_; ++i) phases_.push_back(phase(i));
        add_features(features);
    }

    Kind kind() const { return kind_; }
    std::size_t size() const { return size(kind_, features_, count_); }

    // The width of waves is that for the features which came first; later ones enter with it.
    void add_features(std::size_t count) {
        if (features_ == 0) first_ = count;
        if (kind_ == Kind::fourier) {
            if (features_ == 0 && count > 0) unit_ = unit_for(count);
            for (std::size_t j = features_; j < features_ + count; ++j)
                for (std::size_t i = 0; i < count_; ++i)
                    frequencies_.push_back(unit_ * hash_gaussian(j, i));
        } else if (kind_ == Kind::sparse) {
            const std::vector<double> added = terms(first_, features_, features_ + count);
            terms_.insert(terms_.end(), added.begin(), added.end());
        }
        features_ += count;
    }

    // Of one standardised row; where nothing is made of it there is nothing to do.
    void apply(const double* z, double* out) const {
        if (kind_ == Kind::products) {
            for (std::size_t j = 0; j < features_; ++j) {  // a new feature adds at the end
                *out++ = z[j];
                for (std::size_t i = 0; i <= j; ++i) *out++ = z[i] * z[j];
            }
        } else if (has_waves(kind_)) {
            const Kernel& kernel = default_kernel();
            std::copy(phases_.begin(), phases_.end(), out);
            if (kind_ == Kind::fourier)
                kernel.add_products(frequencies_.data(), features_, count_, z, out);
            for (std::size_t i = 0; i < terms_.size(); i += kTerm)
                out[static_cast<std::size_t>(terms_[i + 1])] +=
                    terms_[i + 2] * z[static_cast<std::size_t>(terms_[i])];
            kernel.cosines(out, count_);
        }
    }

    static bool is_standardised(Kind kind) { return kind != Kind::linear && kind != Kind::ranks; }
    static bool has_waves(Kind kind) { return kind == Kind::fourier || kind == Kind::sparse; }

    // How many features a map makes of `features`.
    static std::size_t size(Kind kind, std::size_t features, std::size_t count) {
        if (!is_standardised(kind)) return features;
        if (has_waves(kind)) return count;
        return bounded_size(features) * (features + 3) / 2;
    }

    // The random numbers, for files: another machine's cos and log may differ in the last digit.
    template <class Self, class Visitor>
    static void fields(Kind kind, std::size_t features, std::size_t count, Self* self,
                       Visitor&& visit) {
        if (!has_waves(kind)) return;
        visit.array({"phases", {count}, 0.0, 7.0},
                    [=](std::size_t i) -> auto& { return self->phases_[i]; });
        if (kind == Kind::fourier) {
            visit.array({"unit", {}, 0.0, 1e6}, [=](std::size_t) -> auto& { return self->unit_; });
            visit.array({"frequencies", {features, count}, -1e8, 1e8},
                        [=](std::size_t i) -> auto& { return self->frequencies_[i]; });
        } else {
            visit.array({"first", {}, 0.0, static_cast<double>(features)},
                        [=](std::size_t) -> auto& { return self->first_; });
            visit.rows({"terms", {kFree, kTerm}, -1e8, 1e8}, self ? &self->terms_ : nullptr);
        }
    }

    // The random numbers must be those of this design, up to a machine's last digits.
    void settle() const {
        if (!has_waves(kind_)) return;
        for (std::size_t i = 0; i < count_; ++i)
            hold(std::fabs(phases_[i] - phase(i)) < 1e-8, "phases: not those of this map");
        kind_ == Kind::fourier ? settle_frequencies() : settle_terms();
    }

private:
    static constexpr std::uint64_t kPhases = 1u << 31, kColumns = kPhases + 1,
                                   kJoins = kPhases << 1;
    static constexpr std::size_t kTerm = 3;  // a term of a sparse wave: feature, wave, frequency

    static double phase(std::size_t i) { return 2.0 * std::numbers::pi * hash_uniform(kPhases, i); }
    double unit_for(double features) const { return 1.0 / (width_ * std::sqrt(features)); }

    // What features from..to add to sparse waves, of which the first ones came together. Each wave
    // has two of those; one that comes later joins as many waves as it would have had.
    std::vector<double> terms(double first, std::size_t from, std::size_t to) const {
        std::vector<double> found;
        const double unit = unit_for(std::min(first, 2.0));
        const auto add = [&](std::size_t j, std::size_t i) {
            found.insert(found.end(), {static_cast<double>(j), static_cast<double>(i),
                                       unit * hash_gaussian(j, i)});
        };
        for (std::size_t i = 0; from == 0 && to > 0 && i < count_; ++i) {
            const auto one = static_cast<std::size_t>(first * hash_uniform(kColumns, 2 * i));
            add(one, i);
            if (first < 2.0) continue;
            const auto other =
                1 + static_cast<std::size_t>((first - 1.0) * hash_uniform(kColumns, 2 * i + 1));
            add(other == one ? 0 : other, i);
        }
        for (std::size_t j = std::max(from, static_cast<std::size_t>(first)); j < to; ++j)
            for (std::size_t i = 0; i < count_; ++i)
                if (hash_uniform(kJoins + j, i) * static_cast<double>(j + 1) < 2.0) add(j, i);
        return found;
    }

    void settle_frequencies() const {
        if (features_ == 0) {
            hold(unit_ == 0.0, "unit: a map of no features has none");
        } else {  // the unit tells how many features there were at first
            const double scaled = unit_ * width_;
            const double first = scaled > 1e-100 && scaled < 1.001 ? 1.0 / (scaled * scaled) : 0.0;
            hold(0.999 < first && first < static_cast<double>(features_) + 0.001 &&
                     std::fabs(first - std::round(first)) < 1e-6 * first,
                 "unit: not that of a map of this width");
        }
        for (std::size_t j = 0; j < features_; ++j)
            for (std::size_t i = 0; i < count_; ++i)
                hold(is_near(frequencies_[j * count_ + i], unit_ * hash_gaussian(j, i), unit_),
                     "frequencies: not those of this map");
    }

    void settle_terms() const {
        hold(first_ == std::floor(first_) && (first_ > 0.0) == (features_ > 0),
             "first: not a count of features");
        const std::vector<double> expected = terms(first_, 0, features_);
        hold(terms_.size() == expected.size(), "terms: not those of this map");
        for (std::size_t i = 0; i < terms_.size(); ++i)
            hold(i % kTerm == 2 ? is_near(terms_[i], expected[i], 1.0 / width_)
                                : terms_[i] == expected[i],
                 "terms: not those of this map");
    }

    static bool is_near(double found, double expected, double unit) {
        return std::fabs(found - expected) <= 1e-6 * std::fabs(expected) + 1e-9 * unit;
    }

    Kind kind_;
    double width_, unit_ = 0.0, first_ = 0.0;
    std::size_t count_, features_ = 0;
    std::vector<double> phases_, frequencies_;  // frequencies: features x count
    std::vector<double> terms_;                 // of sparse waves, kTerm numbers each
};

}  // namespace dfop
