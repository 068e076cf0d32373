// What the leaves of a tree know of the rows that came to them, and where a leaf is best split.
//
// A leaf has a cell per column and bin: how many rows, and the sums of what they teach. That is
//   numbers: the labels, minus a reference of the leaf so that single precision is enough;
//   up to 4 classes: a count of each, which add up to how many rows;
//   more classes: 4 random codes of -1 and 1 of the class, as good for telling sides apart.
// A split into sides a and b with n = n_a + n_b rows and sums T = A + B lowers the squared errors
//     sse = sum |y|^2 - |T|^2 / n   by   gain = n / (n_a n_b) |A - T n_a / n|^2,
// which for classes is n times the gain of Gini's impurity.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "bins.hpp"
#include "fields.hpp"

namespace dfop {

enum class Teaching { numbers, classes };

// What a row teaches a tree.
struct Lesson {
    const std::uint8_t* bins;
    double weight;
    std::size_t label;      // the class
    const double* numbers;  // of every output, in units of the tree
};

inline constexpr std::size_t kMostSums = 4;

struct Split {
    double gain = 0.0, sse = 0.0, rows = 0.0;
    std::size_t candidates = 0, column = 0, bin = 0;
    bool equals = false;  // the side is this bin alone, not all up to it
    double side_rows = 0.0;
    std::array<double, kMostSums> side{}, total{};  // sums, without the reference
};

class LeafStatistics {
public:
    static constexpr std::size_t kMostLeaves = 128, kLeastLeaves = 16, kCells = 65536;
    static constexpr std::size_t kFewColumns = 20;    // up to here, a leaf looks at all of them
    static constexpr std::size_t kEqualityBins = 16;  // up to here, a bin alone may be a side
    static constexpr double kLeastRows = 3.0;         // of a side

    // `seed` decides over codes and columns.
    LeafStatistics(Teaching teaching, std::size_t outputs, std::size_t features,
                   std::uint64_t seed);

    Teaching teaching() const { return teaching_; }
    std::size_t outputs() const { return outputs_; }
    std::size_t features() const { return features_; }
    std::size_t leaves() const { return waits_.size(); }  // places for them, used or not
    bool coded() const { return teaching_ == Teaching::classes && outputs_ > kMostSums; }
    // How many leaves a tree may have: so many that all hold kCells numbers.
    std::size_t most_leaves() const;

    // A leaf with no rows, in a place that is free or the next one.
    void open(std::size_t leaf, const double* reference);
    const double* reference(std::size_t leaf) const {
        return references_.data() + leaf * reference_size();
    }
    void set_reference(std::size_t leaf, const double* reference);
    void learn(std::size_t leaf, const Lesson& lesson);
    // Tells the processor which cells learning a row in these bins will touch.
    void prefetch(std::size_t leaf, const std::uint8_t* bins) const {
        const std::size_t size = cell_size();
        const std::uint32_t* columns = columns_.data() + leaf * width_;
        const float* cell = cells(leaf) + size;
        for (std::size_t i = 0; i < width_; ++i, cell += Bins::kBins * size)
            __builtin_prefetch(cell + bins[columns[i]] * size);
    }
    // Rows since the leaf was opened or last looked at.
    double wait(std::size_t leaf) const { return waits_[leaf]; }
    Split best_split(std::size_t leaf, const Bins& bins);

    void rebin(const Bins::Moves& moves);
    void rescale(double factor);            // of numbers
    void add_features(std::size_t count);   // as if they had been there, always 0
    void set_outputs(std::size_t outputs);  // as if those not there yet had been, always 0

    template <class Self, class Visitor>
    static void fields(Self* self, Visitor&& visit) {
        visit.array({"opened", {}, 0.0, kMostRows},
                    [=](std::size_t) -> auto& { return self->opened_; });
        visit.rows({"openings", {kFree}, 0.0, kMostRows}, self ? &self->openings_ : nullptr);
        visit.rows({"waits", {kFree}, 0.0, kMostRows}, self ? &self->waits_ : nullptr);
        visit.rows({"squares", {kFree}, 0.0, kLargestSum}, self ? &self->squares_ : nullptr);
        visit.rows({"references", {kFree}, -4.0, 4.0}, self ? &self->references_ : nullptr);
        visit.rows({"leaf_columns", {kFree}, 0.0, 0x1p31}, self ? &self->columns_ : nullptr);
        visit.rows({"cells", {kFree}, -kLargestSum, kLargestSum}, self ? &self->cells_ : nullptr);
    }
    void settle(std::size_t outputs);

private:
    static constexpr double kLargestSum = 1e12;

    static std::size_t columns_for(std::size_t features);
    std::size_t cell_size() const;
    std::size_t leaf_size() const { return cell_size() * (1 + width_ * Bins::kBins); }
    bool counts() const { return teaching_ == Teaching::classes && !coded(); }
    std::size_t reference_size() const { return teaching_ == Teaching::numbers ? outputs_ : 0; }
    std::size_t sums() const { return coded() ? kMostSums : outputs_; }
    double code(std::size_t label, std::size_t k) const;
    double rows_in(const float* cell) const;
    float* cells(std::size_t leaf) { return cells_.data() + leaf * leaf_size(); }
    const float* cells(std::size_t leaf) const { return cells_.data() + leaf * leaf_size(); }
    void choose_columns(std::size_t leaf, std::vector<std::uint32_t>& candidates) const;
    void halve(std::size_t leaf);
    void convert_cell(const float* from, std::size_t from_outputs, float* to) const;
    template <std::size_t Size>
    void add_amounts(std::size_t leaf, const std::uint8_t* bins, const float* amounts);
    template <std::size_t Sums>
    void search_as(std::size_t leaf, const Bins& bins, Split& best) const;
    template <bool Counts, std::size_t Sums>
    void search(std::size_t leaf, const Bins& bins, Split& best) const;

    Teaching teaching_;
    std::size_t outputs_, features_, width_;  // width: columns of a leaf
    std::uint64_t seed_;
    double opened_ = 0.0;                 // how often a leaf was opened
    std::vector<double> openings_;        // which opening was that of the leaf
    std::vector<double> waits_;           // rows since the last look
    std::vector<double> squares_;         // sum of |y|^2 of numbers
    std::vector<double> references_;      // leaves x outputs, of numbers
    std::vector<std::uint32_t> columns_;  // leaves x width, increasing
    std::vector<float> cells_;            // leaves x (all rows, then width x kBins) x cell size
};

}  // namespace dfop
