#include "late_combiner.hpp"

#include <algorithm>
#include <cmath>

#include "choice.hpp"

namespace dfop {
namespace {

// Wrong labels tell less than errors do: they are believed less, and remembered longer.
constexpr double kEta = 0.5, kDiscount = 0.9975;
constexpr double kLabelEta = 0.1, kLabelDiscount = 0.9998;
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

void LateCombiner::drop_last_output() {
    at_once_.drop_last_output();
    for (Combiner& combiner : as_made_) combiner.drop_last_output();
}

void LateCombiner::open_late() {
    as_made_.assign(1, at_once_);
    as_made_[0].judge_as_made();
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
    const bool known = row.made.values && !std::isnan(row.made.values[0]);
    Block now = row;
    now.made = {};
    if (outputs() == 0 || (!late() && (!known || same_now(row)))) return at_once_.learn(now);
    if (!late()) open_late();
    if (known) return learn_both(row);
    thread_local std::vector<double> made, predicted;  // right now
    made.resize(std::max(made.size(), outputs() * made_of_output()));
    now.made = {made.data(), 0, made_of_output()};
    predict(now);
    predicted.assign(row.out, row.out + outputs());
    learn_both(now);
    std::copy(predicted.begin(), predicted.end(), row.out);
}

void LateCombiner::learn_both(const Block& row) {
    const Range before = at_once_.range();
    Block now = row;
    now.made = {};
    // What was predicted before the first label says nothing about who predicts well.
    const bool informed = put_down(row.made, 0)[0] > 0.0;
    as_made_[0].learn(informed ? row : now);
    at_once_.learn(now);
    if (!row.seen[0]) return;
    if (is_number()) {
        const double unit = at_once_.range().unit;
        if (before.unit > 0.0 && before.unit < unit) rescale(before.unit / unit);
        room_.learn(before, row.labels[0], labels_ - put_down(row.made, 0)[3]);
        labels_ += 1.0;
    }
    if (informed) judge(row);
    if (is_number()) give_room();
}

// The unit of errors has grown: they are that much smaller.
void LateCombiner::rescale(double ratio) {
    for (double& loss : losses_) loss *= ratio * ratio;
    room_.rescale(ratio * ratio);
}

void LateCombiner::give_room() {
    const double above = room_.open() ? room_.above(at_once_.range()) : 0.0;
    const double below = room_.open() ? room_.below(at_once_.range()) : 0.0;
    at_once_.give_room(above, below);
    as_made_[0].give_room(above, below);
}

// Before predictions are clipped: what the mixture makes of them without room and with it.
void LateCombiner::put_down_room(const Block& block) const {
    const Combiner& combiner = late() ? as_made_[0] : at_once_;
    const std::vector<double>& weights = combiner.mixture().weights();
    Range range = combiner.range();
    range.above = room_.above(range);
    range.below = room_.below(range);
    for (std::size_t t = 0; t < block.rows; ++t) {
        double* now = put_down(block.made.from(t), 0);
        std::vector<double>& said = scratch(weights.size());
        for (std::size_t k = 0; k < weights.size(); ++k)
            said[k] = block.predictions[(k * block.stride + t) * block.width];
        combiner.mixture().fill_in(said.data());
        now[1] = now[2] = 0.0;
        for (std::size_t k = 0; k < weights.size(); ++k) {
            now[1] += weights[k] * range.clip_closely(said[k]);
            now[2] += weights[k] * range.clip(said[k]);
        }
        now[3] = labels_;
    }
}

void LateCombiner::take(const Made& now, const Made& made) const {
    const double labels = is_number() ? put_down(made, 0)[3] : 0.0;
    for (std::size_t o = 0; o < outputs(); ++o) {
        std::copy_n(now.of(0, o), made_of_output(), made.of(0, o));
        put_down(made, o)[0] *= kTaken;
    }
    if (is_number()) put_down(made, 0)[3] = labels;  // how late its own is does not change
}

void LateCombiner::judge(const Block& row) {
    const std::size_t m = outputs(), at = at_once_.candidates();
    if (is_number()) {
        const double unit = at_once_.range().unit, label = row.labels[0];
        if (unit == 0.0) return;
        const double* made = row.made.of(0, 0) + at;
        for (std::size_t i = 0; i < kBoth; ++i) {
            const double error = (made[i] - label) / unit;
            losses_[i] = kDiscount * losses_[i] + error * error;
        }
        const double* then = put_down(row.made, 0);
        room_.judge((then[1] - label) / unit, (then[2] - label) / unit);
    } else {
        const bool margin = at_once_.coding() == Coding::margin;
        const std::size_t right = choose([&](std::size_t o) { return row.labels[o]; }, m, margin);
        for (std::size_t i = 0; i < kBoth; ++i) {
            const auto of = [&](std::size_t o) { return row.made.of(0, o)[at + i]; };
            losses_[i] = kLabelDiscount * losses_[i] + (choose(of, m, margin) != right);
        }
    }
    loss_rows_ = (is_number() ? kDiscount : kLabelDiscount) * loss_rows_ + 1.0;
    weigh();
}

// Squared errors are counted in units of the better one's mean; wrong labels as they are.
void LateCombiner::weigh() {
    const double least = std::min(losses_[0], losses_[1]);
    const double eta = is_number() ? kEta : kLabelEta;
    double unit = 1.0, total = 0.0;
    if (is_number()) unit = std::max(least / std::max(loss_rows_, 1.0), kExact);
    for (std::size_t i = 0; i < kBoth; ++i)
        total += shares_[i] = std::exp(-eta * ((losses_[i] - least) / unit));
    for (double& share : shares_) share /= total;
}

void LateCombiner::predict(const Block& block) const {
    if (block.made.values && is_number()) put_down_room(block);
    at_once_.predict(block);
    const std::size_t m = outputs(), at = at_once_.candidates();
    if (block.made.values)
        for (std::size_t t = 0; t < block.rows; ++t)
            for (std::size_t o = 0; o < m; ++o) {
                double* made = block.made.of(t, o) + at;
                made[0] = made[1] = at_once_.kept(block.out[t * block.width + o]);
                made[kBoth] = at_once_.learned();
            }
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
    if (is_number()) give_room();
}

void LateCombiner::settle_output(std::size_t o) {
    at_once_.settle_output(o);
    if (late()) settle_part("late", [&] { as_made_[0].settle_output(o); });
}

}  // namespace dfop
