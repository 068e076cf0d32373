#include "prototypes.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>

#include "choice.hpp"

namespace dfop {

Prototypes::Prototypes(std::size_t features) {
    weights_.grow(kMost);
    add_features(features);
}

void Prototypes::add_features(std::size_t count) {
    features_ += count;
    mean_.resize(features_ * kMost, 0.0f);
    changed_.resize(features_, 0.0);
}

void Prototypes::find_distances(const double* z, Distances& squared) const {
    squared.fill(0.0f);
    for (std::size_t j = 0; j < features_; ++j) {
        const float zj = static_cast<float>(z[j]);
        const float* mean = mean_.data() + j * kMost;
        for (std::size_t i = 0; i < used_; ++i) squared[i] += (mean[i] - zj) * (mean[i] - zj);
    }
}

double Prototypes::changing_features() const {
    return std::accumulate(changed_.begin(), changed_.end(), 0.0);
}

// Begins with one row that was 1 away in every feature.
double Prototypes::typical_distance() const {
    return (distances_ + changing_features()) / (distance_rows_ + 1.0);
}

Prototypes::Distances& Prototypes::distances() {
    thread_local Distances squared;
    return squared;
}

void Prototypes::predict(const LabelRow& row, double* p) const {
    Distances& squared = distances();
    find_distances(row.z, squared);
    std::fill_n(p, classes_, 0.0);
    float least = std::numeric_limits<float>::max();
    for (std::size_t i = 0; i < used_; ++i)
        if (weights_.counts(i)) least = std::min(least, squared[i]);
    const double sharpness = 0.5 * changing_features() / std::max(typical_distance(), kAbove0);
    std::array<double, kMost> votes;  // of those that are near enough
    std::array<std::uint8_t, kMost> whose;
    std::size_t near = 0;
    for (std::size_t i = 0; i < used_; ++i) {
        votes[near] = -sharpness * static_cast<double>(squared[i] - least);
        whose[near] = static_cast<std::uint8_t>(i);
        near += weights_.counts(i) && votes[near] > -kNothing;
    }
    default_kernel().exponentials(votes.data(), near);
    double sum = 0.0;
    for (std::size_t k = 0; k < near; ++k) {
        const double vote = weights_[whose[k]] * votes[k];
        p[static_cast<std::size_t>(class_[whose[k]])] += vote;
        sum += vote;
    }
    if (sum > 0.0)
        for (std::size_t c = 0; c < classes_; ++c) p[c] /= sum;
}

void Prototypes::learn(const LabelRow& row, std::size_t c, double gain, const double* p) {
    weights_.rescale();
    const double weight = gain * weights_.unit();
    const Distances& squared = distances();  // as they were when it was predicted
    const std::size_t own = nearest(squared, c);
    const bool wrong = choose([&](std::size_t k) { return p[k]; }, classes_, false) != c;
    bool apart = true;
    if (own < kMost) {
        const double distance = static_cast<double>(squared[own]), typical = typical_distance();
        apart = distance > (wrong ? kFarIfWrong : kFar) * typical;
        distances_ = kDistanceMemory * distances_ + gain * distance;
        distance_rows_ = kDistanceMemory * distance_rows_ + gain;
    }
    if (apart)
        place(row.z, c, weight);
    else
        move(row.z, own, weight);
    for (std::size_t j = 0; j < features_; ++j)
        if (row.z[j] != 0.0) changed_[j] = 1.0;
}

// kMost where the class has none.
std::size_t Prototypes::nearest(const Distances& squared, std::size_t c) const {
    std::size_t best = kMost;
    for (std::size_t i = 0; i < used_; ++i)
        if (weights_.counts(i) && class_[i] == static_cast<double>(c) &&
            (best == kMost || squared[i] < squared[best]))
            best = i;
    return best;
}

void Prototypes::place(const double* z, std::size_t c, double weight) {
    std::size_t lightest = 0;
    for (std::size_t i = 1; i < kMost; ++i)
        if (weights_[i] < weights_[lightest]) lightest = i;
    weights_.set(lightest, weight);
    class_[lightest] = static_cast<double>(c);
    for (std::size_t j = 0; j < features_; ++j)
        mean_[j * kMost + lightest] = static_cast<float>(z[j]);
    used_ = std::max(used_, lightest + 1);
}

void Prototypes::move(const double* z, std::size_t i, double weight) {
    weights_.add(i, weight);
    const auto step = static_cast<float>(std::max(weight / weights_[i], kLeastStep));
    for (std::size_t j = 0; j < features_; ++j) {
        float& mean = mean_[j * kMost + i];
        mean += step * (static_cast<float>(z[j]) - mean);
    }
}

void Prototypes::settle() {
    weights_.settle();
    used_ = 0;
    for (std::size_t i = 0; i < kMost; ++i) {
        if (!weights_.counts(i)) continue;
        used_ = i + 1;
        hold(class_[i] == std::floor(class_[i]) && class_[i] < static_cast<double>(classes_),
             "class: there is no such class");
    }
    for (const double changed : changed_)
        hold(changed == 0.0 || changed == 1.0, "changed: neither 0 nor 1");
}

}  // namespace dfop
