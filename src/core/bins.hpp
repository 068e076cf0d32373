// Columns of numbers cut into at most 32 bins of about equally many rows, for all experts that keep
// histograms.
//
// Each column has a sketch of its values: at most 64 of them with how many rows each stands for. A
// value too many makes the lightest neighbouring pair merge into its mean; equal values add up. The
// bins follow from the sketch: one per value up to 32 values, else cut where an equal share of the
// rows is reached. They are drawn anew after 16, 32, 64, ... learned rows and stand still between,
// so what a row is in does not depend on how rows are cut into calls.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "fields.hpp"
#include "filter.hpp"

namespace dfop {

class Bins {
public:
    static constexpr std::size_t kBins = 32, kEdges = kBins - 1, kValues = 64;
    // Beyond all values: where an edge would be that is not there.
    static constexpr double kNoEdge = 2.0 * kLargest;

    // Where each bin goes when the edges are drawn anew: bin b of column j to [j * kBins + b].
    using Moves = std::vector<std::uint8_t>;

    explicit Bins(std::size_t features) { add_features(features); }

    std::size_t features() const { return counts_.size(); }
    // As if they had been there, always 0.
    void add_features(std::size_t count);

    // The bin of every value of a row: how many edges are not above it.
    void find(const double* x, std::uint8_t* bins) const;
    // Where in its column the bin of every value lies, from -1 to 1; 0 where there is one bin only.
    void ranks(const std::uint8_t* bins, double* out) const;
    // Increasing; those beyond the last are kNoEdge.
    const double* edges(std::size_t column) const { return edges_.data() + column * kEdges; }
    std::size_t edge_count(std::size_t column) const { return edge_counts_[column]; }

    // Takes a learned row into the sketches.
    void learn(const double* x);
    // How many rows may be learned before the edges must be drawn anew, at least 1.
    std::size_t rows_to_redraw() const;
    // Whether that is now, and to be done before the next row is looked at.
    bool due() const { return rows_ >= next_redraw(rows_drawn_); }
    Moves redraw();

    template <class Self, class Visitor>
    static void fields(std::size_t features, Self* self, Visitor&& visit) {
        visit.array({"rows", {}, 0.0, kMostRows},
                    [=](std::size_t) -> auto& { return self->rows_; });
        visit.array({"rows_drawn", {}, 0.0, kMostRows},
                    [=](std::size_t) -> auto& { return self->rows_drawn_; });
        visit.array({"counts", {features}, 0.0, static_cast<double>(kValues)},
                    [=](std::size_t j) -> auto& { return self->counts_[j]; });
        visit.array({"values", {features, kValues}, -kLargest, kLargest},
                    [=](std::size_t i) -> auto& { return self->values_[i]; });
        visit.array({"weights", {features, kValues}, 0.0, kMostRows},
                    [=](std::size_t i) -> auto& { return self->weights_[i]; });
        visit.array({"edges", {features, kEdges}, -kLargest, kNoEdge},
                    [=](std::size_t i) -> auto& { return self->edges_[i]; });
    }
    void settle();

private:
    static double next_redraw(double rows_drawn) {
        return rows_drawn == 0.0 ? kFirstRedraw : 2.0 * rows_drawn;
    }
    static double rows_in_sketch(double rows);

    void add_value(std::size_t column, double x);
    void merge_lightest(double* values, double* weights);
    void draw(std::size_t column);
    void find_moves(std::size_t column, const double* old, std::uint8_t* to) const;

    static constexpr double kFirstRedraw = 16.0;
    // Every row goes into the sketch up to kAll, then every kNth.
    static constexpr double kAll = 1000.0, kNth = 8.0;

    double rows_ = 0.0, rows_drawn_ = 0.0;  // learned; and when the edges were drawn
    std::vector<double> counts_;            // of values in each sketch
    std::vector<double> values_, weights_;  // features x kValues, 0 where there is none
    std::vector<double> edges_;             // features x kEdges
    std::vector<std::size_t> edge_counts_;
};

}  // namespace dfop
