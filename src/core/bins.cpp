#include "bins.hpp"

#include <algorithm>
#include <cmath>

namespace dfop {

double Bins::rows_in_sketch(double rows) {
    return rows <= kAll ? rows : kAll + std::floor(rows / kNth) - std::floor(kAll / kNth);
}

void Bins::add_features(std::size_t count) {
    const std::size_t first = features(), all = first + count;
    counts_.resize(all, rows_ > 0.0 ? 1.0 : 0.0);
    values_.resize(all * kValues, 0.0);
    weights_.resize(all * kValues, 0.0);
    for (std::size_t j = first; j < all; ++j) weights_[j * kValues] = rows_in_sketch(rows_);
    edges_.resize(all * kEdges, kNoEdge);
    edge_counts_.resize(all, 0);
}

// A binary search in five steps, without a branch, which would be foreseen wrongly half of the time;
// what is not there lies beyond all values.
void Bins::find(const double* x, std::uint8_t* bins) const {
    for (std::size_t j = 0; j < features(); ++j) {
        const double *edge = edges(j), value = x[j];
        std::size_t bin = 0;
        for (std::size_t step = kBins / 2; step > 0; step /= 2)
            bin += step * (edge[bin + step - 1] <= value);
        bins[j] = static_cast<std::uint8_t>(bin);
    }
}

void Bins::ranks(const std::uint8_t* bins, double* out) const {
    for (std::size_t j = 0; j < features(); ++j) {
        const auto last = static_cast<double>(edge_count(j));
        out[j] = last > 0.0 ? 2.0 * bins[j] / last - 1.0 : 0.0;
    }
}

void Bins::learn(const double* x) {
    rows_ += 1.0;
    if (rows_ > kAll && std::fmod(rows_, kNth) != 0.0) return;
    for (std::size_t j = 0; j < features(); ++j) add_value(j, x[j]);
}

std::size_t Bins::rows_to_redraw() const {
    return static_cast<std::size_t>(next_redraw(rows_drawn_) - rows_);
}

void Bins::add_value(std::size_t column, double x) {
    double *values = values_.data() + column * kValues,
           *weights = weights_.data() + column * kValues;
    const auto count = static_cast<std::size_t>(counts_[column]);
    const auto at = static_cast<std::size_t>(std::lower_bound(values, values + count, x) - values);
    if (at < count && values[at] == x) {
        weights[at] += 1.0;
        return;
    }
    std::array<double, kValues + 1> v, w;  // with room for one too many
    const bool full = count == kValues;
    double *to_v = full ? v.data() : values, *to_w = full ? w.data() : weights;
    if (full) {
        std::copy_n(values, at, to_v);
        std::copy_n(weights, at, to_w);
    }
    std::copy_backward(values + at, values + count, to_v + count + 1);
    std::copy_backward(weights + at, weights + count, to_w + count + 1);
    to_v[at] = x;
    to_w[at] = 1.0;
    if (!full) {
        counts_[column] += 1.0;
        return;
    }
    merge_lightest(v.data(), w.data());
    std::copy_n(v.data(), kValues, values);
    std::copy_n(w.data(), kValues, weights);
}

// Of kValues + 1 values; of pairs that weigh the same, the first merges.
void Bins::merge_lightest(double* values, double* weights) {
    std::size_t lightest = 0;
    double least = weights[0] + weights[1];
    for (std::size_t i = 1; i < kValues; ++i) {
        const double both = weights[i] + weights[i + 1];
        if (both < least) {
            least = both;
            lightest = i;
        }
    }
    double* value = values + lightest;
    value[0] += (value[1] - value[0]) * (weights[lightest + 1] / least);
    weights[lightest] = least;
    const std::size_t next = lightest + 1;
    std::copy(values + next + 1, values + kValues + 1, values + next);
    std::copy(weights + next + 1, weights + kValues + 1, weights + next);
}

Bins::Moves Bins::redraw() {
    rows_drawn_ = rows_;
    Moves moves(features() * kBins);
    for (std::size_t j = 0; j < features(); ++j) {
        std::array<double, kEdges> old;
        std::copy_n(edges(j), kEdges, old.begin());
        draw(j);
        find_moves(j, old.data(), moves.data() + j * kBins);
    }
    return moves;
}

// Between neighbours of the sketch. With too many of them, wherever the rows so far are the share
// that is due: what is left is always divided among the bins that are left.
void Bins::draw(std::size_t column) {
    const double *values = values_.data() + column * kValues,
                 *weights = weights_.data() + column * kValues;
    double* edge = edges_.data() + column * kEdges;
    std::fill_n(edge, kEdges, kNoEdge);
    const auto count = static_cast<std::size_t>(counts_[column]);
    double all = 0.0, below = 0.0;
    for (std::size_t i = 0; i < count; ++i) all += weights[i];
    double due = count <= kBins ? 0.0 : all / static_cast<double>(kBins);
    std::size_t drawn = 0;
    for (std::size_t i = 0; i + 1 < count && drawn < kEdges; ++i) {
        below += weights[i];
        if (below < due) continue;
        const double middle = 0.5 * values[i] + 0.5 * values[i + 1];
        edge[drawn++] = middle > values[i] ? middle : values[i + 1];
        if (count > kBins) due = below + (all - below) / static_cast<double>(kBins - drawn);
    }
    edge_counts_[column] = drawn;
}

// A bin goes where its centre is now: the mean of what the sketch has in it, else the middle of
// its edges.
void Bins::find_moves(std::size_t column, const double* old, std::uint8_t* to) const {
    const double *values = values_.data() + column * kValues,
                 *weights = weights_.data() + column * kValues, *edge = edges(column);
    const auto count = static_cast<std::size_t>(counts_[column]);
    std::size_t i = 0;
    for (std::size_t b = 0; b < kBins; ++b) {
        double weight = 0.0, centre = 0.0;
        for (; i < count && (b == kEdges || values[i] < old[b]); ++i) {
            weight += weights[i];
            centre += (values[i] - centre) * (weights[i] / weight);
        }
        if (weight == 0.0) {
            const double low = b > 0 ? old[b - 1] : std::nextafter(old[0], -kNoEdge);
            centre = b < kEdges && old[b] < kNoEdge ? 0.5 * low + 0.5 * old[b] : low;
        }
        to[b] = static_cast<std::uint8_t>(
            std::upper_bound(edge, edge + edge_counts_[column], centre) - edge);
    }
}

void Bins::settle() {
    hold(rows_ == std::floor(rows_), "rows: no whole number");
    double drawn = 0.0;
    while (next_redraw(drawn) <= rows_) drawn = next_redraw(drawn);
    hold(rows_drawn_ == drawn, "rows_drawn: not when so many rows were learned");
    for (std::size_t j = 0; j < features(); ++j) {
        const double count = counts_[j];
        hold(count == std::floor(count) && (count > 0.0) == (rows_ > 0.0),
             "counts: not those of a sketch");
        const auto used = static_cast<std::size_t>(count);
        const double *values = values_.data() + j * kValues, *edge = edges(j);
        for (std::size_t i = 0; i < kValues; ++i) {
            const double weight = weights_[j * kValues + i];
            hold(i < used ? weight > 0.0 : weight == 0.0, "weights: not those of a sketch");
            hold(i == 0 || i >= used || values[i - 1] < values[i], "values: not in order");
        }
        std::size_t edges_used = 0;
        while (edges_used < kEdges && edge[edges_used] < kNoEdge) ++edges_used;
        for (std::size_t i = 1; i < kEdges; ++i)
            hold(i < edges_used ? edge[i - 1] < edge[i] : i == edges_used || edge[i] == kNoEdge,
                 "edges: not in order");
        edge_counts_[j] = edges_used;
    }
}

}  // namespace dfop
