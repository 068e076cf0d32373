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
#include <iterator>
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
    // How many paths are found together at most.
    static constexpr std::size_t kTogether = 8;

    // Of numbers: how many. Classes are met on the way.
    Tree(const TreeDesign& design, std::size_t outputs, std::size_t features, std::uint64_t seed);

    std::size_t outputs() const { return statistics_.outputs(); }
    std::size_t leaves() const { return leaves_; }

    Path find(const double* x) const;
    // The paths of some trees and rows side by side, so that nobody waits for one step of one path.
    struct Search {
        const Tree* tree;
        const double* x;
    };
    static void find(const Search* searches, std::size_t count, Path* paths);
    // Tells the processor what learning the row will touch.
    void prefetch(const Path& path, const std::uint8_t* bins) const {
        statistics_.prefetch(static_cast<std::size_t>(leaf(path).place), bins);
    }
    // How often the structure has changed: a path holds as long as it does not.
    std::size_t changes() const { return changes_; }
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

    // A cache line. Children are next to each other, the left one at `child`.
    struct alignas(64) Node {
        std::int32_t column = kUnused, child = 0;
        double low = 0.0, high = 0.0;                 // left is low <= x < high
        double rows = 0.0;                            // that passed
        double own = 0.0, below = 0.0, visits = 0.0;  // errors, and how many were compared
        std::int32_t place = 0;                       // of a leaf's statistics
    };
    using Nodes = std::vector<Node, CacheLineAllocator<Node>>;
    // The columns of all nodes as a vector: they say how many nodes there are.
    struct Columns {
        // Of its own: one of a view would need the view to live as long.
        struct Iterator {
            using iterator_category = std::input_iterator_tag;
            using value_type = std::int32_t;
            using difference_type = std::ptrdiff_t;
            using pointer = const std::int32_t*;
            using reference = const std::int32_t&;
            const Node* node;
            reference operator*() const { return node->column; }
            Iterator& operator++() {
                ++node;
                return *this;
            }
            Iterator operator++(int) { return {node++}; }
            bool operator==(const Iterator&) const = default;
        };

        Nodes* nodes;
        Iterator begin() const { return {nodes->data()}; }
        Iterator end() const { return {nodes->data() + nodes->size()}; }
        std::size_t size() const { return nodes->size(); }
        void assign(const double* first, const double* last) {
            nodes->assign(static_cast<std::size_t>(last - first), Node());
            for (Node& node : *nodes) node.column = static_cast<std::int32_t>(*first++);
        }
    };

    std::size_t nodes() const { return nodes_.size(); }
    const Node& leaf(const Path& path) const { return nodes_[path.nodes[path.length - 1]]; }
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
    std::size_t changes_ = 0;
    Nodes nodes_;                             // the root is 0
    std::vector<double> sums_, sum_squares_;  // of every node; sum_squares_: |sums|^2 of classes
};

template <class Self, class Visitor>
void Tree::fields(Self* self, Visitor&& visit) {
    visit.array({"outputs", {}, 0.0, 0x1p31},
                [=](std::size_t) -> auto& { return self->known_outputs_; });
    visit.array({"unit", {}, 0.0, 4.0 * kLargest},
                [=](std::size_t) -> auto& { return self->unit_; });
    const auto node_field = [&](const char* name, double low, double high, auto member) {
        visit.array({name, {self ? self->nodes() : kFree}, low, high},
                    [=](std::size_t i) -> auto& { return self->nodes_[i].*member; });
    };
    Columns columns{self ? const_cast<Nodes*>(&self->nodes_) : nullptr};  // written by writers only
    visit.rows({"column", {kFree}, -2.0, 0x1p30}, &columns);
    node_field("child", 0.0, 0x1p30, &Node::child);
    node_field("place", 0.0, 0x1p30, &Node::place);
    node_field("low", kNoLow, Bins::kNoEdge, &Node::low);
    node_field("high", kNoLow, Bins::kNoEdge, &Node::high);
    node_field("rows", 0.0, kMostWeight, &Node::rows);
    visit.rows({"sums", {kFree}, -kMostWeight, kMostWeight}, self ? &self->sums_ : nullptr);
    visit.rows({"sum_squares", {kFree}, 0.0, kMostWeight * kMostWeight},
               self ? &self->sum_squares_ : nullptr);
    node_field("own", 0.0, 1e3, &Node::own);
    node_field("below", 0.0, 1e3, &Node::below);
    node_field("visits", 0.0, kMostRows, &Node::visits);
    LeafStatistics::fields(self ? &self->statistics_ : nullptr, visit);
}

}  // namespace dfop
