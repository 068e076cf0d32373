#include "additive.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "fading.hpp"

namespace dfop {
namespace {

// What a row may count: more would be no noise at all.
constexpr double kLeastGain = 0x1p-20, kMostGain = 0x1p20;

// Of every new bin, the old bin whose weights it takes: the middle one of those that are in it now,
// else the last one that went below.
std::array<std::uint8_t, Bins::kBins> sources(const std::uint8_t* to, std::size_t old_bins,
                                              std::size_t new_bins) {
    std::array<std::uint8_t, Bins::kBins> from{};
    for (std::size_t b = 0, next = 0; b < new_bins; ++b) {
        const std::size_t first = next;
        while (next < old_bins && to[next] == b) ++next;
        const std::size_t source = next > first ? (first + next - 1) / 2 : next - (next > 0);
        from[b] = static_cast<std::uint8_t>(source);
    }
    return from;
}

}  // namespace

std::size_t Additive::kept(std::size_t features, std::size_t outputs) {
    return std::min(outputs, std::max<std::size_t>(kMostWeights / cells_of(features), 2));
}

void Additive::add_features(std::size_t count) {
    bins_.resize(features_ + count, 1.0);
    variances_.resize(cells_of(features_ + count), kPrior);
    fit(features_ + count, std::accumulate(outputs_.begin(), outputs_.end(), std::size_t{0}));
}

void Additive::add_outputs(std::size_t count) {
    outputs_.back() += count;
    fit(features_, std::accumulate(outputs_.begin(), outputs_.end(), std::size_t{0}));
}

void Additive::add_target(const TargetDesign& target) {
    outputs_.push_back(0);
    add_outputs(target.outputs);
}

void Additive::drop_first_target() {
    const std::size_t dropped = std::min(outputs_.front(), kept_);
    for (std::size_t i = 0; i < variances_.size(); ++i) {
        double* weights = weights_.data() + i * kept_;
        std::copy(weights + dropped, weights + kept_, weights);
        std::fill(weights + kept_ - dropped, weights + kept_, 0.0);
    }
    outputs_.erase(outputs_.begin());
    fit(features_, std::accumulate(outputs_.begin(), outputs_.end(), std::size_t{0}));
}

// Makes room, and gives up outputs for which there is none.
void Additive::fit(std::size_t features, std::size_t outputs) {
    const std::size_t had = kept_, cells = weights_.size() / std::max<std::size_t>(had, 1);
    const std::vector<double> before = std::move(weights_);
    features_ = features;
    kept_ = kept(features, outputs);
    weights_.assign(variances_.size() * kept_, 0.0);
    for (std::size_t i = 0; i < cells; ++i)
        std::copy_n(before.begin() + i * had, std::min(had, kept_), weights_.begin() + i * kept_);
    derive_parts();
}

// As many bins in each part, up to one; few bins are parts of their own.
void Additive::derive_parts() {
    parts_.assign(features_ * Bins::kBins, 0);
    for (std::size_t j = 0; j < features_; ++j) {
        const auto bins = static_cast<std::size_t>(bins_[j]);
        for (std::size_t b = 0; b < bins; ++b)
            parts_[j * Bins::kBins + b] =
                static_cast<std::uint8_t>(bins > kParts ? b * kParts / bins : b);
    }
}

void Additive::find(const std::uint8_t* bins, Cells& cells) const {
    cells.assign(1, 0);
    for (std::size_t j = 0; j < features_; ++j) {
        if (bins_[j] == 1.0) continue;
        cells.push_back(first_cell(j) + bins[j]);
        cells.push_back(first_cell(j) + Bins::kBins + part_of(j, bins[j]));
    }
}

void Additive::predict_row(const Cells& cells, std::size_t width, double* out) const {
    std::fill_n(out, width, 0.0);
    for (const std::size_t cell : cells) {
        const double* weights = weights_.data() + cell * kept_;
        for (std::size_t o = 0; o < kept_; ++o) out[o] += weights[o];
    }
}

// Takes what was predicted, and leaves nothing of it.
void Additive::learn_row(const Cells& cells, double gain, const double* labels, double* errors) {
    double s = 1.0 / gain;
    for (const std::size_t cell : cells) s += variances_[cell];
    const double share = 1.0 / s;
    for (std::size_t o = 0; o < kept_; ++o) errors[o] = (labels[o] - errors[o]) * share;
    for (const std::size_t cell : cells) {
        double &p = variances_[cell], *weights = weights_.data() + cell * kept_;
        for (std::size_t o = 0; o < kept_; ++o) weights[o] += p * errors[o];
        p = std::max(p - p * p * share, kLeastVariance);
    }
}

void Additive::learn(const ExpertRows& rows, double* predictions) {
    thread_local Cells cells;
    thread_local std::vector<double> errors;
    errors.resize(std::max(errors.size(), rows.width));
    const Fading never(0.0);
    for (std::size_t t = 0; t < rows.count; ++t) {
        double* out = predictions + t * rows.width;
        find(rows.bins + t * rows.features, cells);
        predict_row(cells, rows.width, out);
        if (!rows.seen[t]) continue;
        const double gain = never.gain(rows.elapsed[t], rows.age[t]);
        std::copy_n(out, kept_, errors.begin());
        learn_row(cells, std::clamp(gain, kLeastGain, kMostGain), rows.labels + t * rows.width,
                  errors.data());
    }
}

void Additive::predict(const ExpertRows& rows, double* predictions) const {
    thread_local Cells cells;
    for (std::size_t t = 0; t < rows.count; ++t) {
        find(rows.bins + t * rows.features, cells);
        predict_row(cells, rows.width, predictions + t * rows.width);
    }
}

void Additive::rebin(const Bins::Moves& moves, const Bins& bins) {
    for (std::size_t j = 0; j < features_; ++j) {
        const std::size_t now = bins.edge_count(j) + 1;
        const auto from =
            sources(moves.data() + j * Bins::kBins, static_cast<std::size_t>(bins_[j]), now);
        move_column(j, from.data(), now);
    }
    derive_parts();
}

// Every cell takes the weights and the variance of where it comes from; a part comes from where its
// middle bin does, or its first one, if that lies behind the middle: of few bins some parts have one.
void Additive::move_column(std::size_t j, const std::uint8_t* from, std::size_t bins) {
    const std::size_t first = first_cell(j), parts = std::min(bins, kParts);
    std::array<std::size_t, kColumnCells> source;
    std::iota(source.begin(), source.end(), std::size_t{0});
    for (std::size_t b = 0; b < bins; ++b) source[b] = from[b];
    for (std::size_t c = 0; c < parts; ++c) {
        const std::size_t first_bin = (c * bins + kParts - 1) / kParts;
        const std::size_t middle =
            bins > kParts ? std::max((2 * c + 1) * bins / (2 * kParts), first_bin) : c;
        source[Bins::kBins + c] = Bins::kBins + part_of(j, from[middle]);
    }
    const std::vector<double> variances(variances_.begin() + first,
                                        variances_.begin() + first + kColumnCells);
    const std::vector<double> weights(weights_.begin() + first * kept_,
                                      weights_.begin() + (first + kColumnCells) * kept_);
    for (std::size_t i = 0; i < kColumnCells; ++i) {
        variances_[first + i] = variances[source[i]];
        std::copy_n(weights.begin() + source[i] * kept_, kept_,
                    weights_.begin() + (first + i) * kept_);
    }
    bins_[j] = static_cast<double>(bins);
}

void Additive::settle() {
    for (const double bins : bins_) hold(bins == std::floor(bins), "bins: no whole number");
    derive_parts();
}

}  // namespace dfop
