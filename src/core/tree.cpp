#include "tree.hpp"

#include <algorithm>
#include <cmath>

namespace dfop {

Tree::Tree(const TreeDesign& design, std::size_t outputs, std::size_t features, std::uint64_t seed)
    : design_(design), statistics_(design.teaching, outputs, features, seed),
      known_outputs_(outputs) {
    add_nodes(1);
    open(0);
}

void Tree::add_nodes(std::size_t count) {
    const std::size_t all = nodes() + count;
    nodes_.resize(all);
    sum_squares_.resize(all, 0.0);
    sums_.resize(all * outputs(), 0.0);
}

void Tree::clear(std::int32_t node) {
    nodes_[node] = Node();
    sum_squares_[node] = 0.0;
    std::fill_n(sums(node), outputs(), 0.0);
}

// The node becomes a leaf, in the first place that no other leaf has.
void Tree::open(std::int32_t node) {
    std::array<bool, LeafStatistics::kMostLeaves + 1> taken{};
    for (std::size_t i = 0; i < nodes(); ++i)
        if (nodes_[i].column == kLeaf) taken[nodes_[i].place] = true;
    const auto free = std::find(taken.begin(), taken.end(), false) - taken.begin();
    nodes_[node].place = static_cast<std::int32_t>(free);
    nodes_[node].column = kLeaf;
    std::array<double, kMostSums> mean{};
    if (design_.teaching == Teaching::numbers && nodes_[node].rows > 0.0)
        for (std::size_t o = 0; o < outputs(); ++o) mean[o] = sums(node)[o] / nodes_[node].rows;
    statistics_.open(static_cast<std::size_t>(free), mean.data());
}

Tree::Path Tree::find(const double* x) const {
    Path path;
    const Search alone{this, x};
    find(&alone, 1, &path);
    return path;
}

// Every path that is not at its leaf yet takes a step, then the next one does.
void Tree::find(const Search* searches, std::size_t count, Path* paths) {
    struct Walker {
        const Node *nodes, *at;
        const double* x;
        Path* path;
    };
    std::array<Walker, kTogether> walkers;
    std::size_t walking = 0;
    for (std::size_t i = 0; i < count; ++i) {
        const Node* nodes = searches[i].tree->nodes_.data();
        paths[i].nodes[0] = 0;
        paths[i].length = 1;
        if (nodes->column >= 0) walkers[walking++] = {nodes, nodes, searches[i].x, paths + i};
    }
    while (walking > 0)
        for (std::size_t i = 0; i < walking; ++i) {
            Walker& walker = walkers[i];
            const double value = walker.x[walker.at->column];
            const bool left = (value < walker.at->high) & (value >= walker.at->low);
            const std::int32_t next = walker.at->child + !left;
            walker.path->nodes[walker.path->length++] = next;
            walker.at = walker.nodes + next;
            if (walker.at->column < 0)
                walker = walkers[--walking];  // the last one waits for its step
        }
}

void Tree::predict(const Path& path, double* scratch, double* sum) const {
    const std::size_t m = outputs();
    std::size_t i = path.length - std::min(path.length, kPathToTrust);
    const double rows = nodes_[path.nodes[i]].rows, share = rows > 0.0 ? 1.0 / rows : 0.0;
    for (std::size_t o = 0; o < m; ++o) scratch[o] = sums(path.nodes[i])[o] * share;
    while (++i < path.length) {
        const std::int32_t node = path.nodes[i];
        const double inverse = 1.0 / (nodes_[node].rows + kLean), *own = sums(node);
        for (std::size_t o = 0; o < m; ++o) scratch[o] = (own[o] + kLean * scratch[o]) * inverse;
    }
    const double unit = design_.teaching == Teaching::numbers ? unit_ : 1.0;
    for (std::size_t o = 0; o < m; ++o) sum[o] += unit * scratch[o];
}

void Tree::learn(Path& path, const std::uint8_t* bins, double weight, std::size_t label,
                 const double* numbers, const Bins& edges) {
    std::array<double, kMostSums> scaled{};
    if (design_.teaching == Teaching::classes) {
        if (label >= outputs()) set_outputs(label + 1);
    } else {
        fit_unit(numbers);
        for (std::size_t o = 0; o < outputs(); ++o)
            scaled[o] = unit_ > 0.0 ? numbers[o] / unit_ : 0.0;
    }
    const Lesson lesson{bins, weight, label, scaled.data()};
    compare(path, lesson);
    if (weight <= 0.0) return;
    const std::int32_t leaf = path.nodes[path.length - 1];
    const auto place = static_cast<std::size_t>(nodes_[leaf].place);
    if (nodes_[leaf].rows == 0.0) statistics_.set_reference(place, scaled.data());
    for (std::size_t i = 0; i < path.length; ++i) add_row(path.nodes[i], lesson);
    statistics_.learn(place, lesson);
    if (statistics_.wait(place) >= design_.patience && path.length <= kDeepest &&
        leaves_ < statistics_.most_leaves())
        try_split(leaf, edges);
}

void Tree::fit_unit(const double* numbers) {
    double largest = 0.0;
    for (std::size_t o = 0; o < outputs(); ++o) largest = std::max(largest, std::fabs(numbers[o]));
    if (largest <= unit_) return;
    const double unit = std::max(power_of_two_above(largest), kSmallest), factor = unit_ / unit;
    unit_ = unit;
    if (factor == 0.0) return;  // there was nothing but 0 so far
    for (double& sum : sums_) sum *= factor;
    for (Node& node : nodes_) {
        node.own *= factor * factor;
        node.below *= factor * factor;
    }
    statistics_.rescale(factor);
}

// The squared error of the node's own mean: |y - sums / n|^2, with y all 0 but 1 for a class.
double Tree::error(std::int32_t node, const Lesson& lesson) const {
    const double rows = nodes_[node].rows, share = rows > 0.0 ? 1.0 / rows : 0.0, *own = sums(node);
    if (design_.teaching == Teaching::classes)
        return std::max(
            1.0 - 2.0 * (own[lesson.label] * share) + sum_squares_[node] * share * share, 0.0);
    double error = 0.0;
    for (std::size_t o = 0; o < outputs(); ++o) {
        const double gap = lesson.numbers[o] - own[o] * share;
        error += gap * gap;
    }
    return error;
}

void Tree::compare(Path& path, const Lesson& lesson) {
    const double of_leaf = path.length > 1 ? error(path.nodes[path.length - 1], lesson) : 0.0;
    for (std::size_t i = 0; i + 1 < path.length; ++i) {
        const std::int32_t node = path.nodes[i];
        nodes_[node].own += kRate * (error(node, lesson) - nodes_[node].own);
        nodes_[node].below += kRate * (of_leaf - nodes_[node].below);
        nodes_[node].visits += 1.0;
        if (nodes_[node].visits > kTrial && nodes_[node].own < nodes_[node].below) {
            cut(node);
            path.length = i + 1;
        }
    }
}

void Tree::cut(std::int32_t node) {
    ++changes_;
    drop(nodes_[node].child);
    drop(nodes_[node].child + 1);
    --leaves_;
    nodes_[node].child = 0;
    nodes_[node].low = nodes_[node].high = nodes_[node].own = nodes_[node].below =
        nodes_[node].visits = 0.0;
    nodes_[node].column = kUnused;
    open(node);
}

void Tree::drop(std::int32_t node) {
    if (nodes_[node].column >= 0) {
        drop(nodes_[node].child);
        drop(nodes_[node].child + 1);
        --leaves_;
    }
    clear(node);
}

void Tree::add_row(std::int32_t node, const Lesson& lesson) {
    const double w = lesson.weight;
    double* sum = sums(node);
    nodes_[node].rows += w;
    if (design_.teaching == Teaching::classes) {
        sum_squares_[node] += w * (2.0 * sum[lesson.label] + w);
        sum[lesson.label] += w;
    } else {
        for (std::size_t o = 0; o < outputs(); ++o) sum[o] += w * lesson.numbers[o];
    }
}

void Tree::try_split(std::int32_t leaf, const Bins& edges) {
    const Split split = statistics_.best_split(static_cast<std::size_t>(nodes_[leaf].place), edges);
    if (split.gain <= 0.0) return;
    const double left_over = std::max(split.sse - split.gain, 1e-12 * split.sse);
    const double chance = 2.0 * std::log(1.0 + static_cast<double>(split.candidates));
    if (split.rows * split.gain / left_over > design_.threshold + chance) grow(leaf, split, edges);
}

void Tree::grow(std::int32_t leaf, const Split& split, const Bins& edges) {
    const std::int32_t left = free_pair(), right = left + 1;
    ++changes_;
    const double* edge = edges.edges(split.column) + split.bin;
    nodes_[leaf].column = static_cast<std::int32_t>(split.column);
    nodes_[leaf].child = left;
    nodes_[leaf].low = split.equals ? edge[-1] : kNoLow;
    nodes_[leaf].high = edge[0];
    // Of codes, these are 4 times the errors of classes: a credit for children that start empty.
    nodes_[leaf].own = split.sse / split.rows;
    nodes_[leaf].below = std::max(split.sse - split.gain, 0.0) / split.rows;
    nodes_[leaf].visits = 0.0;
    std::array<double, kMostSums> rest;
    for (std::size_t k = 0; k < kMostSums; ++k) rest[k] = split.total[k] - split.side[k];
    if (design_.teaching == Teaching::classes)  // no fewer than 0 rows by rounding
        for (double& sum : rest) sum = std::max(sum, 0.0);
    const double* reference = statistics_.reference(static_cast<std::size_t>(nodes_[leaf].place));
    start(left, split.side_rows, split.side.data(), reference);
    start(right, split.rows - split.side_rows, rest.data(), reference);
    nodes_[leaf].place = 0;
    ++leaves_;
    open(left);
    open(right);
}

// A child knows what its side has taught; codes do not tell classes, so that it learns those anew.
void Tree::start(std::int32_t node, double rows, const double* side, const double* reference) {
    if (statistics_.coded()) return;
    nodes_[node].rows = rows;
    for (std::size_t o = 0; o < outputs(); ++o) {
        const bool numbers = design_.teaching == Teaching::numbers;
        const double sum = numbers ? side[o] + reference[o] * rows : side[o];
        sums(node)[o] = sum;
        if (!numbers) sum_squares_[node] += sum * sum;
    }
}

std::int32_t Tree::free_pair() {
    std::size_t i = 1;
    while (i < nodes() && nodes_[i].column != kUnused) i += 2;
    if (i == nodes()) add_nodes(2);
    return static_cast<std::int32_t>(i);
}

void Tree::set_outputs(std::size_t wanted) {
    const std::size_t had = outputs();
    const std::vector<double> old = sums_;
    statistics_.set_outputs(wanted);
    known_outputs_ = wanted;
    sums_.assign(nodes() * wanted, 0.0);
    for (std::size_t i = 0; i < nodes(); ++i)
        std::copy_n(old.data() + i * had, had, sums_.data() + i * wanted);
}

void Tree::settle() {
    statistics_.settle(known_outputs_);
    int exponent;
    hold(unit_ == 0.0 || std::frexp(unit_, &exponent) == 0.5, "unit: no power of two");
    settle_nodes();
    settle_structure();
}

void Tree::settle_nodes() {
    hold(nodes() % 2 == 1 && nodes() < 2 * LeafStatistics::kMostLeaves,
         "column: not those of a tree");
    hold(sum_squares_.size() == nodes(), "sum_squares: not one for each node");
    hold(known_outputs_ <= kMostNumbers && sums_.size() == nodes() * known_outputs_,
         "sums: not one for each node and output");
    const bool classes = design_.teaching == Teaching::classes;
    for (std::size_t i = 0; i < nodes(); ++i) {
        double squares = 0.0;
        for (std::size_t o = 0; o < known_outputs_; ++o) {
            const double sum = sums_[i * known_outputs_ + o];
            hold(!classes || sum >= 0.0, "sums: fewer than no rows of a class");
            hold(std::fabs(sum) <= nodes_[i].rows * (1.0 + 1e-3) + 1e-3,
                 "sums: more than there are rows");
            squares += sum * sum;
        }
        if (classes)
            hold(std::fabs(squares - sum_squares_[i]) <= 1e-6 * squares + 1e-3,
                 "sum_squares: not those of the sums");
    }
}

// From the root, every node but the unused ones is met once, and every leaf has a place of its own.
void Tree::settle_structure() {
    std::vector<bool> met(nodes()), taken(statistics_.leaves());
    std::vector<std::pair<std::int32_t, std::size_t>> open{{0, 0}};  // with their depth
    leaves_ = 0;
    const auto count = static_cast<std::int32_t>(nodes());
    while (!open.empty()) {
        const auto [node, depth] = open.back();
        open.pop_back();
        hold(!met[node] && depth <= kDeepest, "child: not the nodes of a tree");
        met[node] = true;
        if (nodes_[node].column == kLeaf) {
            const auto place = static_cast<std::size_t>(nodes_[node].place);
            hold(place < taken.size() && !taken[place], "place: not one for each leaf");
            taken[place] = true;
            ++leaves_;
            continue;
        }
        hold(nodes_[node].column >= 0 &&
                 static_cast<std::size_t>(nodes_[node].column) < statistics_.features(),
             "column: there is no such column");
        hold(nodes_[node].low < nodes_[node].high, "low: nothing is between");
        hold(nodes_[node].child % 2 == 1 && nodes_[node].child + 1 < count,
             "child: there is no such node");
        open.emplace_back(nodes_[node].child, depth + 1);
        open.emplace_back(nodes_[node].child + 1, depth + 1);
    }
    for (std::size_t i = 0; i < nodes(); ++i)
        hold(met[i] || nodes_[i].column == kUnused, "column: a node that no row can meet");
}

}  // namespace dfop
