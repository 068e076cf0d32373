#include "late_combiner.hpp"

#include <algorithm>
#include <cmath>

#include "choice.hpp"

namespace dfop {
namespace {

constexpr double kEta = 0.5, kDiscount = 0.9975;
// As in combiner.cpp: better than that is rounding.
constexpr double kExact = 1e-24;

std::vector<double>& scratch(std::size_t size) {
    thread_local std::vector<double> space;
    if (space.size() < size) space.resize(size);
    return space;
}

}  // namespace

void LateCombiner::add_outputs(std::size_t count) {
    at_once_.add_outputs(count);
    for (Combiner& combiner : as_made_) combiner.add_outputs(count);
}

void LateCombiner::open_late() {
    as_made_.assign(1, at_once_);
    as_made_[0].keep_candidates();
}

void LateCombiner::learn(const Block& block) {
    if (!late() && !block.made.values) return at_once_.learn(block);
    for (std::size_t t = 0; t < block.rows; ++t) learn_row(block.row(t));
}

// Whether everything is predicted now as it was when the row came: then both learn the same.
bool LateCombiner::same_now(const Block& row) const {
    const std::size_t of_output = made_of_output();
    std::vector<double>& now = scratch(outputs() * of_output);
    Block again = row;
    again.made = {now.data(), 0, of_output};
    at_once_.predict(again);
    for (std::size_t o = 0; o < outputs(); ++o)
        if (!std::equal(row.made.of(0, o), row.made.of(0, o) + at_once_.candidates(),
                        again.made.of(0, o)))
            return false;
    return true;
}

void LateCombiner::learn_row(const Block& row) {
    const std::size_t m = outputs();
    Block now = row;
    if (row.made.values && std::isnan(row.made.values[0])) now.made = {};
    const bool known = now.made.values != nullptr;
    if (!late()) {
        if (!known || m == 0 || same_now(now)) {
            now.made = {};
            return at_once_.learn(now);
        }
        open_late();
    }
    std::vector<double>& both = scratch(kBoth * m + row.width);
    Block first = row, second = now;
    first.made = {};
    const double unit_before = at_once_.unit();
    at_once_.learn(first);
    for (std::size_t o = 0; o < m; ++o) both[o] = row.out[o];
    as_made_[0].learn(second);
    for (std::size_t o = 0; o < m; ++o) both[m + o] = row.out[o];
    for (std::size_t o = 0; o < m; ++o)
        row.out[o] = shares_[0] * both[o] + shares_[1] * both[m + o];
    if (!row.seen[0] || m == 0) return;
    for (std::size_t o = 0; o < m; ++o)
        for (std::size_t i = 0; i < kBoth; ++i)
            both[i * m + o] = known ? now.made.of(0, o)[at_once_.candidates() + i]
                                    : at_once_.kept(both[i * m + o]);
    judge(both.data(), row.labels, unit_before);
}

// Both predictions of a row, one after the other.
void LateCombiner::judge(const double* predicted, const double* labels, double unit_before) {
    const std::size_t m = outputs();
    if (at_once_.coding() == Coding::number) {
        const double unit = at_once_.unit();
        if (unit == 0.0) return;
        const double ratio = unit_before > 0.0 ? unit_before / unit : 1.0;
        for (std::size_t i = 0; i < kBoth; ++i) {
            const double error = (predicted[i] - labels[0]) / unit;
            losses_[i] = kDiscount * (losses_[i] * ratio * ratio) + error * error;
        }
    } else {
        const bool margin = at_once_.coding() == Coding::margin;
        const std::size_t right = choose([&](std::size_t o) { return labels[o]; }, m, margin);
        for (std::size_t i = 0; i < kBoth; ++i) {
            const auto of = [&](std::size_t o) { return predicted[i * m + o]; };
            losses_[i] = kDiscount * losses_[i] + (choose(of, m, margin) != right);
        }
    }
    loss_rows_ = kDiscount * loss_rows_ + 1.0;
    weigh();
}

// Squared errors are counted in units of the better one's mean; wrong labels as they are.
void LateCombiner::weigh() {
    const double least = std::min(losses_[0], losses_[1]);
    double unit = 1.0, total = 0.0;
    if (at_once_.coding() == Coding::number)
        unit = std::max(least / std::max(loss_rows_, 1.0), kExact);
    for (std::size_t i = 0; i < kBoth; ++i)
        total += shares_[i] = std::exp(-kEta * ((losses_[i] - least) / unit));
    for (double& share : shares_) share /= total;
}

void LateCombiner::predict(const Block& block) const {
    at_once_.predict(block);
    const std::size_t m = outputs(), at = at_once_.candidates();
    if (block.made.values)
        for (std::size_t t = 0; t < block.rows; ++t)
            for (std::size_t o = 0; o < m; ++o)
                block.made.of(t, o)[at] = block.made.of(t, o)[at + 1] =
                    at_once_.kept(block.out[t * block.width + o]);
    if (!late()) return;
    std::vector<double>& first = scratch(block.rows * m);
    for (std::size_t t = 0; t < block.rows; ++t)
        std::copy_n(block.out + t * block.width, m, first.begin() + t * m);
    as_made_[0].predict(block);
    for (std::size_t t = 0; t < block.rows; ++t)
        for (std::size_t o = 0; o < m; ++o) {
            double& out = block.out[t * block.width + o];
            if (block.made.values) block.made.of(t, o)[at + 1] = at_once_.kept(out);
            out = shares_[0] * first[t * m + o] + shares_[1] * out;
        }
}

std::vector<double> LateCombiner::expert_weights(std::size_t o) const {
    std::vector<double> weights = at_once_.expert_weights(o);
    if (!late()) return weights;
    const std::vector<double> second = as_made_[0].expert_weights(o);
    for (std::size_t k = 0; k < weights.size(); ++k)
        weights[k] = shares_[0] * weights[k] + shares_[1] * second[k];
    return weights;
}

void LateCombiner::settle() {
    at_once_.settle();
    if (!late()) return;
    settle_part("late", [&] { as_made_[0].settle(); });
    weigh();
}

void LateCombiner::settle_output(std::size_t o) {
    at_once_.settle_output(o);
    if (late()) settle_part("late", [&] { as_made_[0].settle_output(o); });
}

}  // namespace dfop
