#include "histogram_bayes.hpp"

#include <cmath>

namespace dfop {

void HistogramBayes::add_features(std::size_t count) {
    bins_.resize(features_ + count, 1.0);
    fit(features_ + count, weights_.size());
}

void HistogramBayes::add_classes(std::size_t count) {
    weights_.grow(count);
    fit(features_, weights_.size());
}

// Makes room, and gives up classes for which there is none. The rows before had 0 in a new feature.
void HistogramBayes::fit(std::size_t features, std::size_t classes) {
    const std::size_t kept_before = kept_, features_before = features_;
    const std::vector<double> before = std::move(counts_);
    features_ = features;
    kept_ = kept(features, classes);
    counts_.assign(features * Bins::kBins * kept_, 0.0);
    for (std::size_t c = 0; c < std::min(kept_, kept_before); ++c) {
        for (std::size_t i = 0; i < features_before * Bins::kBins; ++i)
            counts_[i * kept_ + c] = before[i * kept_before + c];
        for (std::size_t j = features_before; j < features; ++j)
            counts_[cell(j, 0) + c] = weights_[c];
    }
    for (std::size_t c = kept_; c < weights_.size(); ++c) weights_.set(c, 0.0);
    derive();
}

void HistogramBayes::predict(const LabelRow& row, double* p) const {
    std::fill_n(p, weights_.size(), 0.0);
    for (std::size_t j = 0; j < features_; ++j) {
        if (bins_[j] == 1.0) continue;
        const double* logarithms = logarithms_.data() + cell(j, row.bins[j]);
        for (std::size_t c = 0; c < kept_; ++c) p[c] += logarithms[c];
    }
    for (std::size_t c = 0; c < kept_; ++c)
        p[c] = weights_.logarithm(c) + temper_ * (p[c] - totals_[c]);
    weights_.normalise(p);
}

void HistogramBayes::learn(const LabelRow& row, std::size_t c, double gain, const double*) {
    if (c >= kept_) return;
    weights_.add(c, gain);
    for (std::size_t j = 0; j < features_; ++j) {
        const std::size_t i = cell(j, row.bins[j]) + c;
        counts_[i] += gain;
        logarithms_[i] = std::log(counts_[i] + kPrior);
    }
    set_total(c);
}

void HistogramBayes::rebin(const Bins::Moves& moves, const Bins& bins) {
    std::vector<double> moved(Bins::kBins * kept_);
    for (std::size_t j = 0; j < features_; ++j) {
        double* counts = counts_.data() + cell(j, 0);
        std::fill(moved.begin(), moved.end(), 0.0);
        for (std::size_t b = 0; b < Bins::kBins; ++b) {
            const std::size_t to = moves[j * Bins::kBins + b];
            for (std::size_t c = 0; c < kept_; ++c) moved[to * kept_ + c] += counts[b * kept_ + c];
        }
        std::copy(moved.begin(), moved.end(), counts);
        bins_[j] = static_cast<double>(bins.edge_count(j) + 1);
    }
    derive();
}

void HistogramBayes::derive() {
    logarithms_.resize(counts_.size());
    for (std::size_t i = 0; i < counts_.size(); ++i) logarithms_[i] = std::log(counts_[i] + kPrior);
    const auto more = std::count_if(bins_.begin(), bins_.end(), [](double b) { return b > 1.0; });
    temper_ = more > 0 ? 1.0 / std::sqrt(static_cast<double>(more)) : 0.0;
    totals_.resize(kept_);
    for (std::size_t c = 0; c < kept_; ++c) set_total(c);
}

void HistogramBayes::set_total(std::size_t c) {
    double sum = 0.0, bins = 1.0, logarithm = 0.0;
    for (std::size_t j = 0; j < features_; ++j) {
        if (bins_[j] == 1.0) continue;
        if (bins_[j] != bins) {  // most features have as many bins as the one before
            bins = bins_[j];
            logarithm = std::log(weights_[c] + kPrior * bins);
        }
        sum += logarithm;
    }
    totals_[c] = sum;
}

void HistogramBayes::settle() {
    weights_.settle();
    for (const double bins : bins_) hold(bins == std::floor(bins), "bins: no whole number");
    for (std::size_t c = kept_; c < weights_.size(); ++c)
        hold(!weights_.counts(c), "weights: of a class that has no histogram");
    derive();
}

}  // namespace dfop
