#include "leaf_statistics.hpp"

#include <algorithm>
#include <cmath>

#include "hash.hpp"

namespace dfop {
namespace {

// Above this many rows the statistics of a leaf are halved: single precision counts to 2^24.
constexpr double kMostRowsOfLeaf = 0x1p22;
// Gains that differ by less are equal but for rounding: the first split counts.
constexpr double kTieOfGains = 1e-9;
constexpr double kExactShare = 1e-9;

// What the seed of a tree is used for.
enum Purpose : std::uint64_t { kCodes, kColumns, kPurposes };

}  // namespace

LeafStatistics::LeafStatistics(Teaching teaching, std::size_t outputs, std::size_t features,
                               std::uint64_t seed)
    : teaching_(teaching), outputs_(outputs), features_(features), width_(columns_for(features)),
      seed_(seed) {}

std::size_t LeafStatistics::columns_for(std::size_t features) {
    if (features <= kFewColumns) return features;
    const auto root = std::lround(2.0 * std::sqrt(static_cast<double>(features)));
    return std::clamp<std::size_t>(static_cast<std::size_t>(root), 12, 64);
}

std::size_t LeafStatistics::cell_size() const {
    if (teaching_ == Teaching::numbers || coded()) return 1 + sums();
    return std::max<std::size_t>(outputs_, 2);  // a second class nearly always comes
}

std::size_t LeafStatistics::most_leaves() const {
    const std::size_t means = 4 * outputs_;  // of the two nodes that a leaf adds, twice as precise
    return std::clamp(kCells / (leaf_size() + means), kLeastLeaves, kMostLeaves);
}

double LeafStatistics::code(std::size_t label, std::size_t k) const {
    return hash_bits(seed_ * kPurposes + kCodes, label) >> k & 1 ? 1.0 : -1.0;
}

double LeafStatistics::rows_in(const float* cell) const {
    if (!counts()) return cell[0];
    double all = 0.0;
    for (std::size_t k = 0; k < cell_size(); ++k) all += cell[k];
    return all;
}

void LeafStatistics::open(std::size_t leaf, const double* reference) {
    if (leaf == leaves()) {
        waits_.push_back(0.0);
        openings_.push_back(0.0);
        squares_.push_back(0.0);
        references_.resize(leaves() * reference_size());
        columns_.resize(leaves() * width_);
        cells_.reserve(most_leaves() * leaf_size());  // all at once; memory is used as leaves come
        cells_.resize(leaves() * leaf_size());
    }
    openings_[leaf] = opened_;
    opened_ += 1.0;
    waits_[leaf] = squares_[leaf] = 0.0;
    set_reference(leaf, reference);
    std::fill_n(cells(leaf), leaf_size(), 0.0f);
    std::vector<std::uint32_t> all(features_);
    for (std::size_t j = 0; j < features_; ++j) all[j] = static_cast<std::uint32_t>(j);
    choose_columns(leaf, all);
    std::copy(all.begin(), all.end(), columns_.begin() + leaf * width_);
}

void LeafStatistics::set_reference(std::size_t leaf, const double* reference) {
    std::copy_n(reference, reference_size(), references_.begin() + leaf * reference_size());
}

// Those of the least hashes, so that columns that come later find the place they would have had.
void LeafStatistics::choose_columns(std::size_t leaf,
                                    std::vector<std::uint32_t>& candidates) const {
    if (candidates.size() <= width_) return;
    const std::uint64_t place =
        hash_bits(seed_ * kPurposes + kColumns, static_cast<std::uint64_t>(openings_[leaf]));
    std::vector<std::uint64_t> hashes(features_);
    for (const std::uint32_t j : candidates) hashes[j] = hash_bits(place, j);
    std::nth_element(candidates.begin(), candidates.begin() + width_, candidates.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return hashes[a] < hashes[b]; });
    candidates.resize(width_);
    std::sort(candidates.begin(), candidates.end());
}

template <std::size_t Size>
void LeafStatistics::add_amounts(std::size_t leaf, const std::uint8_t* bins, const float* amounts) {
    float* cell = cells(leaf);
    for (std::size_t k = 0; k < Size; ++k) cell[k] += amounts[k];
    cell += Size;
    const std::uint32_t* columns = columns_.data() + leaf * width_;
    for (std::size_t i = 0; i < width_; ++i, cell += Bins::kBins * Size) {
        float* own = cell + bins[columns[i]] * Size;
        for (std::size_t k = 0; k < Size; ++k) own[k] += amounts[k];
    }
}

void LeafStatistics::learn(std::size_t leaf, const Lesson& lesson) {
    std::array<float, 1 + kMostSums> amounts{static_cast<float>(lesson.weight)};
    if (teaching_ == Teaching::numbers) {
        for (std::size_t k = 0; k < outputs_; ++k) {
            const double y = lesson.numbers[k] - reference(leaf)[k];
            squares_[leaf] += lesson.weight * (y * y);
            amounts[1 + k] = static_cast<float>(lesson.weight * y);
        }
    } else if (coded()) {
        for (std::size_t k = 0; k < kMostSums; ++k)
            amounts[1 + k] = static_cast<float>(lesson.weight * code(lesson.label, k));
    } else {
        amounts[0] = 0.0f;
        amounts[lesson.label] = static_cast<float>(lesson.weight);
    }
    switch (cell_size()) {
        case 2: add_amounts<2>(leaf, lesson.bins, amounts.data()); break;
        case 3: add_amounts<3>(leaf, lesson.bins, amounts.data()); break;
        case 4: add_amounts<4>(leaf, lesson.bins, amounts.data()); break;
        default: add_amounts<5>(leaf, lesson.bins, amounts.data());
    }
    waits_[leaf] += 1.0;
    if (rows_in(cells(leaf)) > kMostRowsOfLeaf) halve(leaf);
}

void LeafStatistics::halve(std::size_t leaf) {
    float* cell = cells(leaf);
    for (std::size_t i = 0; i < leaf_size(); ++i) cell[i] *= 0.5f;
    squares_[leaf] *= 0.5;
}

Split LeafStatistics::best_split(std::size_t leaf, const Bins& bins) {
    waits_[leaf] = 0.0;
    const float* all = cells(leaf);
    Split best;
    best.rows = rows_in(all);
    if (best.rows < 2.0 * kLeastRows) return best;
    double squares = squares_[leaf], explained = 0.0;
    if (teaching_ == Teaching::classes) squares = best.rows * (coded() ? kMostSums : 1);
    for (std::size_t k = 0; k < sums(); ++k) {
        best.total[k] = all[counts() ? k : 1 + k];
        explained += best.total[k] * best.total[k];
    }
    best.sse = squares - explained / best.rows;
    if (!(best.sse > kExactShare * squares)) return best;
    switch (sums()) {
        case 1: search_as<1>(leaf, bins, best); break;
        case 2: search_as<2>(leaf, bins, best); break;
        case 3: search_as<3>(leaf, bins, best); break;
        default: search_as<4>(leaf, bins, best);
    }
    return best;
}

template <std::size_t Sums>
void LeafStatistics::search_as(std::size_t leaf, const Bins& bins, Split& best) const {
    counts() ? search<true, Sums>(leaf, bins, best) : search<false, Sums>(leaf, bins, best);
}

template <bool Counts, std::size_t Sums>
void LeafStatistics::search(std::size_t leaf, const Bins& bins, Split& best) const {
    constexpr std::size_t kSize = Counts ? Sums : 1 + Sums;
    using Side = std::array<double, 1 + Sums>;  // rows and sums
    const auto read = [](const float* cell) {
        Side side{};
        for (std::size_t k = 0; k < Sums; ++k) side[1 + k] = cell[Counts ? k : 1 + k];
        if constexpr (Counts)
            for (std::size_t k = 0; k < Sums; ++k) side[0] += cell[k];
        else
            side[0] = cell[0];
        return side;
    };
    std::array<double, Sums> mean;
    for (std::size_t k = 0; k < Sums; ++k) mean[k] = best.total[k] / best.rows;
    const auto consider = [&](const Side& side, std::size_t column, std::size_t bin, bool equals) {
        const double other = best.rows - side[0];
        if (side[0] < kLeastRows || other < kLeastRows) return;
        ++best.candidates;
        double gap = 0.0;
        for (std::size_t k = 0; k < Sums; ++k) {
            const double part = side[1 + k] - mean[k] * side[0];
            gap += part * part;
        }
        const double gain = gap * best.rows / (side[0] * other);
        if (!(gain > best.gain + kTieOfGains * best.gain)) return;
        best.gain = gain;
        best.column = column;
        best.bin = bin;
        best.equals = equals;
        best.side_rows = side[0];
        for (std::size_t k = 0; k < Sums; ++k) best.side[k] = side[1 + k];
    };
    const std::uint32_t* columns = columns_.data() + leaf * width_;
    const float* cell = cells(leaf) + kSize;
    for (std::size_t i = 0; i < width_; ++i, cell += Bins::kBins * kSize) {
        const std::size_t edges = bins.edge_count(columns[i]);
        Side below{};
        for (std::size_t b = 0; b < edges; ++b) {
            const Side own = read(cell + b * kSize);
            for (std::size_t k = 0; k <= Sums; ++k) below[k] += own[k];
            consider(below, columns[i], b, false);
        }
        if (edges < kEqualityBins)  // the first and the last bin alone were sides before
            for (std::size_t b = 1; b < edges; ++b)
                consider(read(cell + b * kSize), columns[i], b, true);
    }
}

void LeafStatistics::rebin(const Bins::Moves& moves) {
    const std::size_t size = cell_size(), column_size = Bins::kBins * size;
    std::vector<float> moved(column_size);
    for (std::size_t leaf = 0; leaf < leaves(); ++leaf) {
        float* cell = cells(leaf) + size;
        for (std::size_t i = 0; i < width_; ++i, cell += column_size) {
            const std::uint8_t* to = moves.data() + columns_[leaf * width_ + i] * Bins::kBins;
            std::fill(moved.begin(), moved.end(), 0.0f);
            for (std::size_t b = 0; b < Bins::kBins; ++b)
                for (std::size_t k = 0; k < size; ++k)
                    moved[to[b] * size + k] += cell[b * size + k];
            std::copy(moved.begin(), moved.end(), cell);
        }
    }
}

void LeafStatistics::rescale(double factor) {
    const std::size_t size = cell_size();
    for (double& reference : references_) reference *= factor;
    for (double& squares : squares_) squares *= factor * factor;
    for (std::size_t i = 0; i < cells_.size(); ++i)
        if (i % size != 0) cells_[i] = static_cast<float>(cells_[i] * factor);
}

void LeafStatistics::add_features(std::size_t count) {
    const LeafStatistics old = *this;
    features_ += count;
    width_ = columns_for(features_);
    columns_.assign(leaves() * width_, 0);
    cells_.assign(leaves() * leaf_size(), 0.0f);
    const std::size_t size = cell_size(), column_size = Bins::kBins * size;
    std::vector<std::uint32_t> chosen;
    for (std::size_t leaf = 0; leaf < leaves(); ++leaf) {
        const auto had = old.columns_.begin() + leaf * old.width_;
        chosen.assign(had, had + old.width_);
        for (std::size_t j = old.features_; j < features_; ++j)
            chosen.push_back(static_cast<std::uint32_t>(j));
        choose_columns(leaf, chosen);
        std::copy(chosen.begin(), chosen.end(), columns_.begin() + leaf * width_);
        const float* from = old.cells(leaf);
        float* to = cells(leaf);
        std::copy_n(from, size, to);
        for (std::size_t i = 0; i < width_; ++i) {
            float* column = to + size + i * column_size;
            const auto at = std::find(had, had + old.width_, chosen[i]);
            if (at == had + old.width_)
                std::copy_n(from, size, column);  // all rows were in the one bin there is
            else
                std::copy_n(from + size + (at - had) * column_size, column_size, column);
        }
    }
}

// What a cell of fewer outputs is with those of now.
void LeafStatistics::convert_cell(const float* from, std::size_t from_outputs, float* to) const {
    if (coded() && from_outputs <= kMostSums) {
        for (std::size_t c = 0; c < from_outputs; ++c) {
            to[0] += from[c];
            for (std::size_t k = 0; k < kMostSums; ++k)
                to[1 + k] += static_cast<float>(code(c, k)) * from[c];
        }
    } else {
        const std::size_t used = counts() ? from_outputs : 1 + (coded() ? kMostSums : from_outputs);
        std::copy_n(from, used, to);
    }
}

void LeafStatistics::set_outputs(std::size_t outputs) {
    const LeafStatistics old = *this;
    outputs_ = outputs;
    references_.assign(leaves() * reference_size(), 0.0);
    for (std::size_t leaf = 0; leaf < leaves(); ++leaf)
        std::copy_n(old.reference(leaf), old.reference_size(),
                    references_.begin() + leaf * reference_size());
    const std::size_t from = old.cell_size(), to = cell_size(), count = old.cells_.size() / from;
    cells_.assign(count * to, 0.0f);
    for (std::size_t i = 0; i < count; ++i)
        convert_cell(old.cells_.data() + i * from, old.outputs_, cells_.data() + i * to);
}

void LeafStatistics::settle(std::size_t outputs) {
    outputs_ = outputs;
    width_ = columns_for(features_);
    const std::size_t leaves = waits_.size();
    hold(leaves >= 1 && leaves <= kMostLeaves, "waits: not those of a tree's leaves");
    hold(openings_.size() == leaves, "openings: not one for each leaf");
    for (const double opening : openings_) hold(opening < opened_, "openings: later than the last");
    hold(squares_.size() == leaves, "squares: not one for each leaf");
    hold(references_.size() == leaves * reference_size(), "references: not one for each output");
    hold(columns_.size() == leaves * width_, "leaf_columns: not as many as leaves have");
    for (std::size_t i = 0; i < columns_.size(); ++i)
        hold(columns_[i] < features_ && (i % width_ == 0 || columns_[i - 1] < columns_[i]),
             "leaf_columns: not columns in order");
    hold(cells_.size() == leaves * leaf_size(), "cells: not as many as leaves have");
    for (std::size_t i = 0; i < cells_.size(); ++i)
        hold(cells_[i] >= 0.0f || !(counts() || i % cell_size() == 0), "cells: fewer than no rows");
}

}  // namespace dfop
