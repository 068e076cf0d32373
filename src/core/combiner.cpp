#include "combiner.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace dfop {
namespace {

// Chosen on generated streams, where half or twice of any of them changes little.
constexpr std::array<double, Combiner::kStacks> kStackForgetting{1e-2, 1e-3, 1e-4};
constexpr double kStackPrior = 0.1, kStackCap = 1e6;
constexpr double kSmallestUnit = 0x1p-1000;  // its inverse is finite
// Numbers may go on beyond the range seen so far: a share of it that helps series with a trend.
constexpr double kMargin = 0.1;
// How many ranges out a label may be.
constexpr double kReach = 3.0;
constexpr double kEta = 0.5;
// Labels are right or wrong, which tells less about a candidate than an error does.
constexpr double kLossDiscount = 0.99, kLabelLossDiscount = 0.999;

}  // namespace

Range Range::of(Coding coding) {
    if (coding == Coding::margin) return {-1.0, 1.0, 1.0, kTrusted, 0.0};
    if (coding == Coding::one_hot) return {0.0, 1.0, 0.5, kTrusted, 0.0};
    return {0.0, 0.0, 0.0, 0.0, kMargin};
}

double Range::clip(double value) const {
    const double beyond = margin * (high - low);
    return std::clamp(value, low - beyond, high + beyond);
}

double Range::bounded(double label) const {
    const double reach = kReach * (high - low);
    if (labels < kTrusted || reach == 0.0) return label;
    return std::clamp(label, low - reach, high + reach);
}

void Range::include(double label) {
    low = labels == 0.0 ? label : std::min(low, label);
    high = labels == 0.0 ? label : std::max(high, label);
    labels = std::min(labels + 1.0, kTrusted);
    const double half = 0.5 * high - 0.5 * low;
    if (half > unit) unit = std::max(power_of_two_above(half), kSmallestUnit);
}

MlPoly::MlPoly(std::size_t experts) : regret_(experts), squares_(experts), weights_(experts) {
    reweigh();
}

double MlPoly::mix(const double* predictions) const {
    double sum = 0.0;
    for (std::size_t k = 0; k < weights_.size(); ++k) sum += weights_[k] * predictions[k];
    return sum;
}

void MlPoly::learn(const double* predictions, double mixed, double label, double unit) {
    const double slope = 2.0 * ((mixed - label) / unit);
    for (std::size_t k = 0; k < regret_.size(); ++k) {
        const double r = slope * ((mixed - predictions[k]) / unit);
        regret_[k] += r;
        squares_[k] += r * r;
        largest_ = std::max(largest_, r * r);
    }
    reweigh();
}

void MlPoly::rescale(double shrink) {
    for (double& r : regret_) r *= shrink;
    for (double& v : squares_) v *= shrink * shrink;
    largest_ *= shrink * shrink;
}

void MlPoly::reweigh() {
    double total = 0.0;
    for (std::size_t k = 0; k < regret_.size(); ++k) {
        // A regret may outlive its square, which vanishes where the range of labels leaps.
        const double scale = largest_ + squares_[k];
        weights_[k] = regret_[k] > 0.0 && scale > 0.0 ? regret_[k] / scale : 0.0;
        total += weights_[k];
    }
    for (double& w : weights_)
        w = total > 0.0 ? w / total : 1.0 / static_cast<double>(weights_.size());
}

void MlPoly::save(std::vector<double>& state) const {
    state.insert(state.end(), regret_.begin(), regret_.end());
    state.insert(state.end(), squares_.begin(), squares_.end());
    state.push_back(largest_);
}

const double* MlPoly::load(const double* from) {
    const std::size_t experts = regret_.size();
    std::copy_n(from, experts, regret_.begin());
    std::copy_n(from + experts, experts, squares_.begin());
    largest_ = from[2 * experts];
    reweigh();
    return from + state_size(experts);
}

Combiner::Combiner(Coding coding, std::size_t outputs, std::size_t experts)
    : coding_(coding), experts_(experts), losses_(candidates()), shares_(candidates()), calm_(candidates()),
      counts_(candidates()) {
    add_outputs(outputs);
    weigh();
}

void Combiner::add_outputs(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) outputs_.push_back(fresh_output());
}

Combiner::Output Combiner::fresh_output() const {
    Output output{Range::of(coding_), MlPoly(experts_), {}};
    for (std::size_t i = 0; i < kStacks; ++i)
        output.stacks.emplace_back(stack_features(), 1, coding_ != Coding::number, kStackPrior,
                                   false, kStackCap);
    return output;
}

// What the stacks see: how the experts differ from the mixture and, for a label, the mixture
// itself, so that it can be found too sure or too timid.
void Combiner::stack_row(const double* predictions, double mixed, const Range& range,
                         double* x) const {
    const double inverse = range.unit > 0.0 ? 1.0 / range.unit : 0.0;
    for (std::size_t k = 0; k < experts_; ++k) x[k] = (predictions[k] - mixed) * inverse;
    if (coding_ != Coding::number) x[experts_] = (mixed - 0.5 * (range.low + range.high)) * inverse;
}

void Combiner::bound_labels(std::size_t rows, std::size_t width, const unsigned char* seen,
                            double* labels) const {
    if (coding_ != Coding::number) return;
    Range range = outputs_[0].range;
    for (std::size_t t = 0; t < rows; ++t) {
        if (!seen[t]) continue;
        labels[t * width] = range.bounded(labels[t * width]);
        range.include(labels[t * width]);
    }
}

void Combiner::learn(const Block& block) {
    const std::size_t n = block.rows, m = outputs(), C = candidates();
    std::vector<double> all(n * m * C);  // candidates of every row and output
    std::vector<double> shrink(n, 1.0);  // of squared errors, where the range of numbers grew
    std::vector<double> x(n * stack_features()), target(n), gain(n), unit(n), mixed(n), yhat(n);
    std::vector<double> x_before(stack_features());
    std::vector<Range> before(n);
    for (std::size_t o = 0; o < m; ++o) {
        Output& output = outputs_[o];
        for (std::size_t t = 0; t < n; ++t) {
            double* candidate = all.data() + (t * m + o) * C;
            double* predictions = candidate + 1 + kStacks;
            for (std::size_t k = 0; k < experts_; ++k) {
                double& f = block.predictions[(k * n + t) * block.width + o];
                predictions[k] = f = output.range.clip(f);
            }
            mixed[t] = candidate[0] = output.mixture.mix(predictions);
            before[t] = output.range;
            const double label = block.labels[t * block.width + o];
            if (block.seen[t] && coding_ == Coding::number) {
                output.range.include(label);
                const double ratio =
                    before[t].unit > 0.0 ? before[t].unit / output.range.unit : 1.0;
                if (ratio < 1.0) {
                    shrink[t] = ratio * ratio;
                    output.mixture.rescale(shrink[t]);
                }
            }
            unit[t] = output.range.unit;
            stack_row(predictions, mixed[t], output.range, x.data() + t * stack_features());
            gain[t] = block.seen[t] && unit[t] > 0.0;
            target[t] = gain[t] > 0.0 ? (label - mixed[t]) / unit[t] : 0.0;
            if (gain[t] > 0.0) output.mixture.learn(predictions, mixed[t], label, unit[t]);
        }
        for (std::size_t i = 0; i < kStacks; ++i) {
            Filter& stack = output.stacks[i];
            const double discount = 1.0 - kStackForgetting[i];
            const auto learn_rows = [&](std::size_t start, std::size_t end) {
                stack.learn(x.data() + start * stack_features(), end - start,
                            {target.data() + start, 1, 1}, {&discount, 0},
                            {gain.data() + start, 1}, kNoWalk, yhat.data() + start);
            };
            std::size_t start = 0;
            for (std::size_t t = 0; t < n; ++t) {
                if (unit[t] == before[t].unit) continue;
                // The label of this row has changed the unit: predict in the old one.
                learn_rows(start, t);
                stack_row(all.data() + (t * m + o) * C + 1 + kStacks, mixed[t], before[t],
                          x_before.data());
                double ahead;
                stack.predict(x_before.data(), 1, &ahead);
                learn_rows(t, t + 1);
                yhat[t] = ahead;
                start = t + 1;
            }
            learn_rows(start, n);
            for (std::size_t t = 0; t < n; ++t)
                all[(t * m + o) * C + 1 + i] =
                    before[t].clip(mixed[t] + before[t].unit * yhat[t]);
        }
    }
    for (std::size_t t = 0; t < n; ++t) {
        const double* candidate = all.data() + t * m * C;
        for (std::size_t o = 0; o < m; ++o) {
            double sum = 0.0;
            for (std::size_t c = 0; c < C; ++c) sum += counts_[c] * candidate[o * C + c];
            block.out[t * block.width + o] = sum;
        }
        if (!block.seen[t]) continue;
        if (shrink[t] < 1.0) {
            for (double& loss : losses_) loss *= shrink[t];
            calm_.rescale(shrink[t]);
        }
        if (unit[t] > 0.0) learn_losses(candidate, block.labels + t * block.width, unit[t]);
    }
}

void Combiner::predict(const Block& block) const {
    const std::size_t n = block.rows, C = candidates();
    std::vector<double> candidate(C), x(stack_features());
    for (std::size_t o = 0; o < outputs(); ++o) {
        const Output& output = outputs_[o];
        double* predictions = candidate.data() + 1 + kStacks;
        for (std::size_t t = 0; t < n; ++t) {
            for (std::size_t k = 0; k < experts_; ++k)
                predictions[k] = output.range.clip(block.predictions[(k * n + t) * block.width + o]);
            candidate[0] = output.mixture.mix(predictions);
            stack_row(predictions, candidate[0], output.range, x.data());
            for (std::size_t i = 0; i < kStacks; ++i) {
                double yhat;
                output.stacks[i].predict(x.data(), 1, &yhat);
                candidate[1 + i] = output.range.clip(candidate[0] + output.range.unit * yhat);
            }
            double sum = 0.0;
            for (std::size_t c = 0; c < C; ++c) sum += counts_[c] * candidate[c];
            block.out[t * block.width + o] = sum;
        }
    }
}

void Combiner::learn_losses(const double* candidates, const double* labels, double unit) {
    const std::size_t C = this->candidates(), m = outputs();
    if (coding_ == Coding::number) {
        for (std::size_t c = 0; c < C; ++c) {
            const double error = (candidates[c] - labels[0]) / unit;
            losses_[c] = kLossDiscount * losses_[c] + error * error;
        }
        loss_rows_ = kLossDiscount * loss_rows_ + 1.0;
        calm_.learn(candidates, calm_.mix(candidates), labels[0], unit);
    } else {
        const auto chosen = [&](const auto& of) {
            std::size_t best = 0;
            if (coding_ == Coding::margin) return static_cast<std::size_t>(of(0) > 0.0);
            for (std::size_t o = 1; o < m; ++o)
                if (of(o) > of(best)) best = o;
            return best;
        };
        const std::size_t right = chosen([&](std::size_t o) { return labels[o]; });
        for (std::size_t c = 0; c < C; ++c) {
            const bool wrong =
                chosen([&](std::size_t o) { return candidates[o * C + c]; }) != right;
            losses_[c] = kLabelLossDiscount * losses_[c] + wrong;
        }
        loss_rows_ = kLabelLossDiscount * loss_rows_ + 1.0;
    }
    weigh();
}

// Squared errors are counted in units of the best candidate's mean; wrong labels as they are.
void Combiner::weigh() {
    const double least = *std::min_element(losses_.begin(), losses_.end());
    const double unit = coding_ == Coding::number ? least / std::max(loss_rows_, 1.0) : 1.0;
    double total = 0.0;
    for (std::size_t c = 0; c < candidates(); ++c) {
        const double behind = losses_[c] - least;
        shares_[c] = behind == 0.0 ? 1.0 : unit > 0.0 ? std::exp(-kEta * behind / unit) : 0.0;
        total += shares_[c];
    }
    for (double& share : shares_) share /= total;
    for (std::size_t c = 0; c < candidates(); ++c)
        counts_[c] = coding_ == Coding::number ? 0.5 * shares_[c] + 0.5 * calm_.weights()[c]
                                               : shares_[c];
}

std::vector<double> Combiner::expert_weights(std::size_t o) const {
    const Output& output = outputs_[o];
    const std::vector<double>& mixture = output.mixture.weights();
    std::vector<double> weights(counts_.begin() + 1 + kStacks, counts_.end());
    for (std::size_t k = 0; k < experts_; ++k) weights[k] += counts_[0] * mixture[k];
    std::vector<double> coef(stack_features());
    for (std::size_t i = 0; i < kStacks; ++i) {
        double constant, sum = 0.0;
        output.stacks[i].coefficients(coef.data(), &constant);
        for (std::size_t k = 0; k < experts_; ++k) sum += coef[k];
        for (std::size_t k = 0; k < experts_; ++k)
            weights[k] += counts_[1 + i] * (coef[k] + (1.0 - sum) * mixture[k]);
    }
    return weights;
}

std::size_t Combiner::state_size() const {
    return candidates() + 1 + MlPoly::state_size(candidates()) +
           outputs() * (4 + MlPoly::state_size(experts_));
}

std::vector<double> Combiner::snapshot() const {
    std::vector<double> state(losses_);
    state.push_back(loss_rows_);
    calm_.save(state);
    for (const Output& output : outputs_) {
        const Range& range = output.range;
        state.insert(state.end(), {range.low, range.high, range.unit, range.labels});
        output.mixture.save(state);
    }
    return state;
}

void Combiner::restore(const std::vector<double>& state) {
    const double* from = state.data();
    std::copy_n(from, candidates(), losses_.begin());
    from += candidates();
    loss_rows_ = *from++;
    from = calm_.load(from);
    for (Output& output : outputs_) {
        output.range = {from[0], from[1], from[2], from[3], output.range.margin};
        from = output.mixture.load(from + 4);
    }
    weigh();
}

}  // namespace dfop
