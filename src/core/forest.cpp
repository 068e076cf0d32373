#include "forest.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "fading.hpp"
#include "hash.hpp"

namespace dfop {
namespace {

// Chosen on generated streams.
struct Design {
    std::size_t trees;
    double threshold, patience;
    double luck;  // how likely a row is not taken, and as likely taken twice
};
constexpr std::array<Design, 3> kDesigns{
    {{8, 0.0, 20.0, 0.25}, {6, 8.0, 40.0, 0.1}, {4, 8.0, 40.0, 0.1}}};

constexpr std::size_t kNone = static_cast<std::size_t>(-1);
// What a row may count: sums of far smaller or larger weights would lose all others.
constexpr double kLeastWeight = 0x1p-20, kMostWeight = 0x1p20;
constexpr std::uint64_t kLuck = std::uint64_t{1} << 40;  // apart from the other uses of seeds

const Design& design_of(Forest::Kind kind) { return kDesigns[static_cast<std::size_t>(kind)]; }

// Of no two trees the same.
std::uint64_t seed_of(Forest::Kind kind, std::size_t k) {
    return 16 * static_cast<std::uint64_t>(kind) + k;
}

}  // namespace

// The paths of rows through trees, some at a time: of a few rows through one tree or, row by row,
// of one row through a few trees.
class Forest::Paths {
public:
    Paths(const std::vector<Tree>& trees, const ExpertRows& rows, bool learns)
        : trees_(trees), rows_(rows), learns_(learns) {}

    // Of row t through tree k, to be asked for tree by tree and row by row. Finds those that will be
    // asked for next, too, and looks again where the tree has changed meanwhile.
    Tree::Path& find(std::size_t k, std::size_t t) {
        const std::size_t i = k * rows_.count + t;
        if (i >= end_) find_from(i);
        const std::size_t at = i - start_;
        if (trees_[k].changes() != changes_[at]) paths_[at] = trees_[k].find(searches_[at].x);
        return paths_[at];
    }

private:
    void find_from(std::size_t start) {
        start_ = start;
        end_ = std::min(start + Tree::kTogether, trees_.size() * rows_.count);
        for (std::size_t i = start_; i < end_; ++i) {
            const Tree& tree = trees_[i / rows_.count];
            searches_[i - start_] = {&tree, rows_.X + i % rows_.count * rows_.features};
            changes_[i - start_] = tree.changes();
        }
        Tree::find(searches_.data(), end_ - start_, paths_.data());
        if (!learns_) return;
        for (std::size_t i = start_; i < end_; ++i)
            searches_[i - start_].tree->prefetch(paths_[i - start_],
                                                 rows_.bins + i % rows_.count * rows_.features);
    }

    const std::vector<Tree>& trees_;
    const ExpertRows& rows_;
    bool learns_;
    std::size_t start_ = 0, end_ = 0;
    std::array<Tree::Search, Tree::kTogether> searches_;
    std::array<std::size_t, Tree::kTogether> changes_;
    std::array<Tree::Path, Tree::kTogether> paths_;
};

// What only lives while rows pass, shared by all forests of a thread.
struct Forest::Workspace {
    std::vector<double> weights, row_numbers;  // of every row; a weight of 0 is not learned
    std::vector<std::size_t> labels;           // classes
    std::vector<std::size_t> before,
        after;                          // how many outputs were known, without and with the row
    std::vector<double> numbers;        // rows x kMostSums: what trees learn
    std::vector<double> sums, scratch;  // over trees, rows x outputs; of one tree

    template <class Value>
    static void fit(std::vector<Value>& part, std::size_t size) {
        if (part.size() < size) part.resize(size);
    }
    void clear_sums(std::size_t rows, std::size_t outputs) {
        fit(sums, rows * outputs);
        fit(scratch, outputs);
        std::fill_n(sums.begin(), rows * outputs, 0.0);
    }
};

Forest::Workspace& Forest::workspace() {
    thread_local Workspace space;
    return space;
}

std::size_t Forest::trees_of(Kind kind) { return design_of(kind).trees; }

bool Forest::has_label(const std::vector<TargetDesign>& targets) {
    return std::any_of(targets.begin(), targets.end(),
                       [](const TargetDesign& t) { return t.coding != Coding::number; });
}

Tree Forest::fresh_tree(Teaching teaching, std::size_t k) const {
    const Design& design = design_of(kind_);
    return Tree({teaching, design.threshold, design.patience}, 0, features_, seed_of(kind_, k));
}

void Forest::add_target(const TargetDesign& target) {
    targets_.push_back(target);
    numbers_.push_back({Range::of(target.coding), 0, {}});
    plant();
}

void Forest::drop_first_target() {
    targets_.erase(targets_.begin());
    numbers_.erase(numbers_.begin());
    if (!has_label(targets_)) label_.clear();
    plant();
}

// Gives trees to targets that have none and should.
void Forest::plant() {
    for (std::size_t c = 0; c < targets_.size(); ++c)
        if (has_trees(kind_, targets_, c) && numbers_[c].trees.empty())
            for (std::size_t k = 0; k < trees_of(kind_); ++k)
                numbers_[c].trees.push_back(fresh_tree(Teaching::numbers, k));
    if (kind_ != Kind::residual && label_.empty() && has_label(targets_))
        for (std::size_t k = 0; k < trees_of(kind_); ++k)
            label_.push_back(fresh_tree(Teaching::classes, k));
}

void Forest::add_features(std::size_t count) {
    features_ += count;
    for (NumberTrees& numbers : numbers_)
        for (Tree& tree : numbers.trees) tree.add_features(count);
    for (Tree& tree : label_) tree.add_features(count);
}

void Forest::rebin(const Bins::Moves& moves) {
    for (NumberTrees& numbers : numbers_)
        for (Tree& tree : numbers.trees) tree.rebin(moves);
    for (Tree& tree : label_) tree.rebin(moves);
}

// How often tree k takes a row.
double Forest::luck(std::size_t k, double row) const {
    const double chance = hash_uniform(kLuck + seed_of(kind_, k), static_cast<std::uint64_t>(row));
    const double rare = design_of(kind_).luck;
    return chance < rare ? 0.0 : chance < 1.0 - rare ? 1.0 : 2.0;
}

void Forest::stage_weights(const ExpertRows& rows, Workspace& space) const {
    Workspace::fit(space.weights, rows.count);
    Workspace::fit(space.row_numbers, rows.count);
    const Fading never(0.0);
    double row = rows_;
    for (std::size_t t = 0; t < rows.count; ++t) {
        space.row_numbers[t] = row;
        const double gain = never.gain(rows.elapsed[t], rows.age[t]);
        space.weights[t] = rows.seen[t] ? std::clamp(gain, kLeastWeight, kMostWeight) : 0.0;
        if (rows.seen[t]) row += 1.0;
    }
}

void Forest::learn(const ExpertRows& rows, double* predictions) {
    Workspace& space = workspace();
    stage_weights(rows, space);
    std::size_t first = 0;
    for (std::size_t c = 0; c < targets_.size(); ++c) {
        if (targets_[c].coding == Coding::number || kind_ == Kind::residual) {
            stage_numbers(c, first, rows, space, predictions);
            learn_numbers(c, rows, space);
            add_numbers(space, c, first, rows, predictions);
        }
        first += targets_[c].outputs;
    }
    if (!label_.empty()) learn_label(rows, space, predictions);
    for (std::size_t t = 0; t < rows.count; ++t) rows_ += rows.seen[t] ? 1.0 : 0.0;
}

void Forest::predict(const ExpertRows& rows, double* predictions) const {
    Workspace& space = workspace();
    std::size_t first = 0;
    for (std::size_t c = 0; c < targets_.size(); ++c) {
        if (targets_[c].coding == Coding::number || kind_ == Kind::residual)
            predict_numbers(c, first, rows, space, predictions);
        first += targets_[c].outputs;
    }
    if (!label_.empty()) predict_label(rows, space, predictions);
}

// What the trees' numbers are added to.
double Forest::start_of(const NumberTrees& numbers, const ExpertRows& rows, std::size_t at) const {
    return kind_ == Kind::residual ? numbers.range.clip(rows.base[at]) : 0.0;
}

// Residual trees learn what the linear prediction leaves over within the range of the labels, the
// row's own among them: the first label is no surprise.
void Forest::stage_numbers(std::size_t c, std::size_t first, const ExpertRows& rows,
                           Workspace& space, double* predictions) {
    NumberTrees& numbers = numbers_[c];
    const TargetDesign& target = targets_[c];
    for (auto* part : {&space.before, &space.after}) Workspace::fit(*part, rows.count);
    Workspace::fit(space.numbers, rows.count * kMostSums);
    for (std::size_t t = 0; t < rows.count; ++t) {
        const std::size_t at = t * rows.width + first;
        const double* labels = rows.labels + at;
        space.before[t] = numbers.outputs;
        for (std::size_t o = 0; o < target.outputs; ++o)
            predictions[at + o] = start_of(numbers, rows, at + o);
        if (rows.seen[t]) {
            if (target.coding == Coding::number) numbers.range.include(labels[0]);
            for (std::size_t o = 0; o < std::min(target.outputs, kMostSums); ++o)
                space.numbers[t * kMostSums + o] = labels[o] - start_of(numbers, rows, at + o);
            std::size_t known = target.outputs;
            if (target.coding == Coding::one_hot)  // up to the last class met
                while (known > 0 && labels[known - 1] <= 0.5) --known;
            numbers.outputs = std::max(numbers.outputs, known);
        }
        space.after[t] = numbers.outputs;
    }
}

// Tree by tree, so that a block of rows finds a tree in the cache.
void Forest::learn_numbers(std::size_t c, const ExpertRows& rows, Workspace& space) {
    const Coding coding = targets_[c].coding;
    space.clear_sums(rows.count, kMostSums);
    Paths paths(numbers_[c].trees, rows, true);
    for (std::size_t k = 0; k < numbers_[c].trees.size(); ++k) {
        Tree& tree = numbers_[c].trees[k];
        for (std::size_t t = 0; t < rows.count; ++t) {
            const std::size_t before = space.before[t], after = space.after[t];
            if (!active(coding, before) && !active(coding, after)) continue;
            Tree::Path& path = paths.find(k, t);
            if (active(coding, before))
                tree.predict(path, space.scratch.data(), space.sums.data() + t * kMostSums);
            if (!rows.seen[t]) continue;
            if (!active(coding, after)) {  // too many classes: they are given up for good
                tree = fresh_tree(Teaching::numbers, k);
                continue;
            }
            if (tree.outputs() < after) tree.set_outputs(after);
            tree.learn(path, rows.bins + t * rows.features,
                       space.weights[t] * luck(k, space.row_numbers[t]), 0,
                       space.numbers.data() + t * kMostSums, *rows.edges);
        }
    }
}

void Forest::predict_numbers(std::size_t c, std::size_t first, const ExpertRows& rows,
                             Workspace& space, double* predictions) const {
    const NumberTrees& numbers = numbers_[c];
    space.clear_sums(rows.count, kMostSums);
    for (std::size_t t = 0; t < rows.count; ++t) {
        const std::size_t at = t * rows.width + first;
        for (std::size_t o = 0; o < targets_[c].outputs; ++o)
            predictions[at + o] = start_of(numbers, rows, at + o);
    }
    Paths paths(numbers.trees, rows, false);
    if (active(targets_[c].coding, numbers.outputs))
        for (std::size_t k = 0; k < numbers.trees.size(); ++k)
            for (std::size_t t = 0; t < rows.count; ++t)
                numbers.trees[k].predict(paths.find(k, t), space.scratch.data(),
                                         space.sums.data() + t * kMostSums);
    add_numbers(space, c, first, rows, predictions);
}

void Forest::add_numbers(const Workspace& space, std::size_t c, std::size_t first,
                         const ExpertRows& rows, double* predictions) const {
    const double share = 1.0 / static_cast<double>(trees_of(kind_));
    const std::size_t outputs = std::min(targets_[c].outputs, kMostSums);
    for (std::size_t t = 0; t < rows.count; ++t)
        for (std::size_t o = 0; o < outputs; ++o)
            predictions[t * rows.width + first + o] += share * space.sums[t * kMostSums + o];
}

// One-hot outputs tell any class, a margin the first two.
std::size_t Forest::class_of(const double* labels) const {
    std::size_t found = kNone;
    for (const TargetDesign& target : targets_) {
        if (target.coding == Coding::margin && std::fabs(labels[0]) > 0.5) found = labels[0] > 0.0;
        if (target.coding == Coding::one_hot)
            for (std::size_t o = target.outputs; o-- > 0;)
                if (labels[o] > 0.5) found = o;
        labels += target.outputs;
    }
    return found;
}

void Forest::learn_label(const ExpertRows& rows, Workspace& space, double* predictions) {
    Workspace::fit(space.labels, rows.count);
    std::size_t classes = label_.front().outputs();
    for (std::size_t t = 0; t < rows.count; ++t) {
        space.labels[t] = rows.seen[t] ? class_of(rows.labels + t * rows.width) : kNone;
        if (space.labels[t] != kNone) classes = std::max(classes, space.labels[t] + 1);
    }
    space.clear_sums(rows.count, classes);
    Paths paths(label_, rows, true);
    for (std::size_t k = 0; k < label_.size(); ++k)
        for (std::size_t t = 0; t < rows.count; ++t) {
            Tree::Path& path = paths.find(k, t);
            label_[k].predict(path, space.scratch.data(), space.sums.data() + t * classes);
            if (space.labels[t] != kNone)
                label_[k].learn(path, rows.bins + t * rows.features,
                                space.weights[t] * luck(k, space.row_numbers[t]), space.labels[t],
                                nullptr, *rows.edges);
        }
    write_label(space, classes, rows, predictions);
}

void Forest::predict_label(const ExpertRows& rows, Workspace& space, double* predictions) const {
    const std::size_t classes = label_.front().outputs();
    space.clear_sums(rows.count, classes);
    Paths paths(label_, rows, false);
    for (std::size_t k = 0; k < label_.size(); ++k)
        for (std::size_t t = 0; t < rows.count; ++t)
            label_[k].predict(paths.find(k, t), space.scratch.data(),
                              space.sums.data() + t * classes);
    write_label(space, classes, rows, predictions);
}

// In every coding: the share of a class, and by how much that of the second exceeds the first's.
void Forest::write_label(const Workspace& space, std::size_t classes, const ExpertRows& rows,
                         double* predictions) const {
    const double share = 1.0 / static_cast<double>(trees_of(kind_));
    for (std::size_t t = 0; t < rows.count; ++t) {
        const double* sums = space.sums.data() + t * classes;
        const auto p = [&](std::size_t k) { return k < classes ? share * sums[k] : 0.0; };
        double* out = predictions + t * rows.width;
        for (const TargetDesign& target : targets_) {
            if (target.coding == Coding::margin) out[0] = p(1) - p(0);
            if (target.coding == Coding::one_hot)
                for (std::size_t k = 0; k < target.outputs; ++k) out[k] = p(k);
            out += target.outputs;
        }
    }
}

void Forest::settle() {
    hold(rows_ == std::floor(rows_), "rows: no whole number");
    for (std::size_t c = 0; c < numbers_.size(); ++c) {
        NumberTrees& numbers = numbers_[c];
        const std::string name = "target " + std::to_string(c) + " ";
        if (!numbers.trees.empty() && kind_ == Kind::residual)
            settle_part(name + "range", [&] { numbers.range.settle(targets_[c].coding); });
        if (kind_ != Kind::residual && !numbers.trees.empty()) numbers.outputs = rows_ > 0.0;
        hold(numbers.outputs <= std::max<std::size_t>(targets_[c].outputs, 1),
             name + "outputs: more than there are");
        const bool learned = active(targets_[c].coding, numbers.outputs);
        for (std::size_t k = 0; k < numbers.trees.size(); ++k)
            settle_part(name + "tree " + std::to_string(k), [&] {
                numbers.trees[k].settle();
                const std::size_t outputs = numbers.trees[k].outputs();
                hold(outputs == 0 || (learned && outputs == numbers.outputs),
                     "outputs: not as many as are learned");
            });
    }
    for (std::size_t k = 0; k < label_.size(); ++k)
        settle_part("label tree " + std::to_string(k), [&] {
            label_[k].settle();
            hold(label_[k].outputs() == label_[0].outputs(), "outputs: not those of other trees");
        });
}

}  // namespace dfop
