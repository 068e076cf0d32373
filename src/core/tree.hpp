// A tree that learns where to split while rows come, and cuts what does not hold any more.
//
// Every node keeps the mean of the rows that passed it. A prediction starts from the mean of the
// fourth last node of a row's path and goes down: p = (sum + 2 p) / (n + 2), so that a young leaf
// leans on its parents. A leaf is split where
//     n gain / (sse - gain) > threshold + 2 ln(1 + candidates).
// Every inner node compares its own mean with the mean of the leaf below (squared errors, a share
// of .002 with every row), and after 200 rows cuts off a subtree that is worse.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "bins.hpp"
#include "fields.hpp"
#include "leaf_statistics.hpp"

namespace dfop {

struct TreeDesign {
    Teaching teaching;
    double threshold;  // of evidence for a split
    double patience;   // rows of a leaf from one look for a split to the next
};

class Tree {
public:
    static constexpr std::size_t kDeepest = 20;

    // The nodes that a row passes, from the root to a leaf.
    struct Path {
        std::array<std::int32_t, kDeepest + 1> nodes;
        std::size_t length;
    };

    // Of numbers: how many. Classes are met on the way.
    Tree(const TreeDesign& design, std::size_t outputs, std::size_t features, std::uint64_t seed);

    std::size_t outputs() const { return statistics_.outputs(); }
    std::size_t leaves() const { return leaves_; }

    Path find(const double* x) const;
    // Adds to `sum`; `scratch` has room for all outputs.
    void predict(const Path& path, double* scratch, double* sum) const;
    // Either the number of the class or as many numbers as there are outputs.
    void learn(Path& path, const std::uint8_t* bins, double weight, std::size_t label,
               const double* numbers, const Bins& edges);

    void rebin(const Bins::Moves& moves) { statistics_.rebin(moves); }
    void add_features(std::size_t count) { statistics_.add_features(count); }
    void set_outputs(std::size_t outputs);  // as if those not there yet had been, always 0

    template <class Self, class Visitor>
    static void fields(Self* self, Visitor&& visit);
    void settle();

private:
    static constexpr std::size_t kPathToTrust = 4;
    static constexpr double kLean = 2.0, kRate = 0.002, kTrial = 200.0;
    static constexpr double kMostWeight = 1e30;
    static constexpr std::int32_t kLeaf = -1, kUnused = -2;
    static constexpr double kNoLow = -Bins::kNoEdge;

    std::size_t nodes() const { return column_.size(); }
    double* sums(std::int32_t node) { return sums_.data() + node * outputs(); }
    const double* sums(std::int32_t node) const { return sums_.data() + node * outputs(); }
    void add_nodes(std::size_t count);
    void clear(std::int32_t node);
    void fit_unit(const double* numbers);
    double error(std::int32_t node, const Lesson& lesson) const;
    void compare(Path& path, const Lesson& lesson);
    void cut(std::int32_t node);
    void drop(std::int32_t node);
    void add_row(std::int32_t node, const Lesson& lesson);
    void try_split(std::int32_t leaf, const Bins& edges);
    void grow(std::int32_t leaf, const Split& split, const Bins& edges);
    void start(std::int32_t node, double rows, const double* side, const double* reference);
    std::int32_t free_pair();
    void open(std::int32_t node);
    void settle_nodes();
    void settle_structure();

    TreeDesign design_;
    LeafStatistics statistics_;
    double unit_ = 0.0;  // a power of two above all numbers learned: sums are in units of it
    std::size_t leaves_ = 1, known_outputs_;
    // Of every node; the root is 0, and children are next to each other, the left one at child_.
    std::vector<std::int32_t> column_, child_, place_;  // place_: of a leaf's statistics
    std::vector<double> low_, high_;                    // left is low <= x < high
    std::vector<double> rows_, sums_, sum_squares_;     // sum_squares_: |sums|^2 of classes
    std::vector<double> own_, below_, visits_;          // errors, and how many were compared
};

template <class Self, class Visitor>
void Tree::fields(Self* self, Visitor&& visit) {
    visit.array({"outputs", {}, 0.0, 0x1p31},
                [=](std::size_t) -> auto& { return self->known_outputs_; });
    visit.array({"unit", {}, 0.0, 4.0 * kLargest},
                [=](std::size_t) -> auto& { return self->unit_; });
    visit.rows({"column", {kFree}, -2.0, 0x1p30}, self ? &self->column_ : nullptr);
    visit.rows({"child", {kFree}, 0.0, 0x1p30}, self ? &self->child_ : nullptr);
    visit.rows({"place", {kFree}, 0.0, 0x1p30}, self ? &self->place_ : nullptr);
    visit.rows({"low", {kFree}, kNoLow, Bins::kNoEdge}, self ? &self->low_ : nullptr);
    visit.rows({"high", {kFree}, kNoLow, Bins::kNoEdge}, self ? &self->high_ : nullptr);
    visit.rows({"rows", {kFree}, 0.0, kMostWeight}, self ? &self->rows_ : nullptr);
    visit.rows({"sums", {kFree}, -kMostWeight, kMostWeight}, self ? &self->sums_ : nullptr);
    visit.rows({"sum_squares", {kFree}, 0.0, kMostWeight * kMostWeight},
               self ? &self->sum_squares_ : nullptr);
    visit.rows({"own", {kFree}, 0.0, 1e3}, self ? &self->own_ : nullptr);
    visit.rows({"below", {kFree}, 0.0, 1e3}, self ? &self->below_ : nullptr);
    visit.rows({"visits", {kFree}, 0.0, kMostRows}, self ? &self->visits_ : nullptr);
    LeafStatistics::fields(self ? &self->statistics_ : nullptr, visit);
}

}  // namespace dfop
