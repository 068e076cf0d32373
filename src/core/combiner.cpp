#include "combiner.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "choice.hpp"

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
// Labels are right or wrong, which tells less about a candidate than an error does; that a prediction
// was wrong when its row came, less still.
constexpr double kLossDiscount = 0.99, kLabelLossDiscount = 0.999;
constexpr double kMadeLabelEta = 0.1, kMadeLabelLossDiscount = 0.9995;

// Mean squared errors below this (in units of half the range) are rounding: candidates that are all
// that good count the same, as their order would be another on every machine.
constexpr double kExact = 1e-24;

}  // namespace

// What only lives while rows are learned, shared by all combiners of a thread.
struct Combiner::Workspace {
    std::vector<double> candidates;  // of every row and output
    std::vector<double> shrink;      // of squared errors, where the range of numbers grew
    std::vector<double> unit, gain, target, left_over;
    std::vector<double> x, x_before;  // what the stacks see
    std::vector<Range> before;        // the label of the row

    void fit(std::size_t rows, std::size_t of_row, std::size_t features) {
        enlarge(candidates, rows * of_row);
        for (auto* part : {&shrink, &unit, &gain, &target, &left_over}) enlarge(*part, rows);
        enlarge(x, rows * features);
        enlarge(x_before, features);
        if (before.size() < rows) before.resize(rows);
    }
    static void enlarge(std::vector<double>& part, std::size_t size) {
        if (part.size() < size) part.resize(size);
    }
};

Combiner::Workspace& Combiner::workspace() {
    thread_local Workspace space;
    return space;
}

Range Range::of(Coding coding) {
    Range range;
    if (coding == Coding::margin)
        range.low = -1.0, range.high = range.unit = 1.0, range.labels = kTrusted;
    else if (coding == Coding::one_hot)
        range.high = 1.0, range.unit = 0.5, range.labels = kTrusted;
    else
        range.margin = kMargin;
    return range;
}

double Range::clip(double value) const {
    const double beyond = margin * (high - low);
    return std::clamp(value, low - std::max(beyond, below), high + std::max(beyond, above));
}

double Range::clip_closely(double value) const {
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

void Range::settle(Coding coding) const {
    if (coding != Coding::number) {
        const Range fixed = of(coding);
        hold(low == fixed.low && high == fixed.high && unit == fixed.unit && labels == fixed.labels,
             "unit: not the range of class labels");
        return;
    }
    const double half = 0.5 * high - 0.5 * low;
    hold(low <= high, "low: above high");
    hold(unit == (half > 0.0 ? std::max(power_of_two_above(half), kSmallestUnit) : 0.0),
         "unit: not that of the range");
    hold(labels == std::floor(labels) && (labels > 0.0 || (low == 0.0 && high == 0.0)),
         "labels: not a count of labels");
}

MlPoly::MlPoly(std::size_t experts) : regret_(experts), squares_(experts), weights_(experts) {
    reweigh();
}

double MlPoly::mix(const double* predictions) const {
    double sum = 0.0;
    for (std::size_t k = 0; k < weights_.size(); ++k) sum += weights_[k] * predictions[k];
    return sum;
}

void MlPoly::fill_in(double* predictions) const {
    double total = 0.0, sum = 0.0, plain = 0.0, answers = 0.0;
    for (std::size_t k = 0; k < weights_.size(); ++k) {
        if (std::isnan(predictions[k])) continue;
        total += weights_[k];
        sum += weights_[k] * predictions[k];
        plain += predictions[k];
        answers += 1.0;
    }
    if (answers == static_cast<double>(weights_.size())) return;
    // Where all weight was on those who have no answer, the others count the same.
    const double mixed = total > 0.0 ? sum / total : plain / std::max(answers, 1.0);
    for (std::size_t k = 0; k < weights_.size(); ++k)
        if (std::isnan(predictions[k])) predictions[k] = mixed;
}

void MlPoly::learn(const double* predictions, double mixed, double label, double unit,
                   bool by_error) {
    const double slope = 2.0 * ((mixed - label) / unit);
    for (std::size_t k = 0; k < regret_.size(); ++k) {
        const double apart = (mixed - predictions[k]) / unit;
        const double r = by_error ? (slope - apart) * apart : slope * apart;
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

void MlPoly::settle() {
    for (std::size_t k = 0; k < regret_.size(); ++k)  // Cauchy and Schwarz, for all rows there are
        hold(std::fabs(regret_[k]) <= 1e10 * std::sqrt(squares_[k]) + 1e-150,
             "regret: larger than its squares allow");
    reweigh();
}

Combiner::Combiner(Coding coding, std::size_t outputs, std::size_t experts)
    : coding_(coding), experts_(experts), losses_(candidates()), shares_(candidates()),
      calm_(candidates()), counts_(candidates()) {
    outputs_.resize(outputs, fresh_output());
    weigh();
}

void Combiner::add_outputs(std::size_t count) {
    const Output next = outputs_.empty() ? fresh_output() : outputs_.back();
    outputs_.resize(outputs() + count, next);
}

Combiner::Output Combiner::fresh_output() const {
    Output output{Range::of(coding_), MlPoly(experts_), {}};
    for (std::size_t i = 0; i < kStacks; ++i)
        output.stacks.emplace_back(stack_features(), 1, coding_ != Coding::number, kStackPrior,
                                   false, kStackCap);
    return output;
}

void Combiner::bound_labels(std::size_t rows, std::size_t width, const unsigned char* seen,
                            double* labels, Range& range) const {
    if (coding_ != Coding::number) return;
    for (std::size_t t = 0; t < rows; ++t) {
        if (!seen[t]) continue;
        labels[t * width] = range.bounded(labels[t * width]);
        range.include(labels[t * width]);
    }
}

// Candidates of a row, in this order: the mixture, the stacks, the experts.
void Combiner::mix(const Output& output, const Block& block, std::size_t t, std::size_t o,
                   double* candidate) const {
    double* experts = candidate + 1 + kStacks;
    bool asleep = false;
    for (std::size_t k = 0; k < experts_; ++k) {
        double& f = block.predictions[(k * block.stride + t) * block.width + o];
        f = output.range.clip(f);
        asleep |= std::isnan(f);
        experts[k] = candidate_of(f);
    }
    if (asleep) output.mixture.fill_in(experts);
    candidate[0] = candidate_of(output.mixture.mix(experts));
}

// How the experts differ from the mixture and, for a label, the mixture itself, so that it can be
// found too sure or too timid.
void Combiner::stack_row(const double* candidate, const Range& range, double* x) const {
    const double inverse = range.unit > 0.0 ? 1.0 / range.unit : 0.0;
    const double mixed = candidate[0];
    const double* experts = candidate + 1 + kStacks;
    for (std::size_t k = 0; k < experts_; ++k) x[k] = (experts[k] - mixed) * inverse;
    if (coding_ != Coding::number) x[experts_] = (mixed - 0.5 * (range.low + range.high)) * inverse;
}

double Combiner::corrected(const Range& range, double mixed, double left_over) const {
    return candidate_of(range.clip(mixed + range.unit * left_over));
}

double Combiner::combined(const double* candidate) const {
    double sum = 0.0;
    for (std::size_t c = 0; c < candidates(); ++c) sum += counts_[c] * candidate[c];
    return sum;
}

// Widens the range of numbers; returns by how much squared errors shrink with it.
double Combiner::include(Output& output, double label) const {
    if (coding_ != Coding::number) return 1.0;
    const double before = output.range.unit;
    output.range.include(label);
    const double ratio = before > 0.0 ? before / output.range.unit : 1.0;
    if (ratio >= 1.0) return 1.0;
    output.mixture.rescale(ratio * ratio);
    return ratio * ratio;
}

// The mixture takes the rows one by one; for the stacks, all rows are made ready.
void Combiner::learn_mixture(Output& output, const Block& block, std::size_t o,
                             Workspace& space) const {
    const std::size_t of_row = outputs() * candidates();
    for (std::size_t t = 0; t < block.rows; ++t) {
        double* candidate = space.candidates.data() + t * of_row + o * candidates();
        if (block.made.values)
            std::copy_n(block.made.of(t, o), candidates(), candidate);
        else
            mix(output, block, t, o, candidate);
        const double mixed = candidate[0], label = block.labels[t * block.width + o];
        space.before[t] = output.range;
        space.shrink[t] = block.seen[t] ? include(output, label) : 1.0;
        const double unit = space.unit[t] = output.range.unit;
        stack_row(candidate, output.range, space.x.data() + t * stack_features());
        const bool learned = block.seen[t] && unit > 0.0;
        space.gain[t] = learned;
        space.target[t] = learned ? (label - mixed) / unit : 0.0;
        if (learned) output.mixture.learn(candidate + 1 + kStacks, mixed, label, unit, by_error());
    }
}

// One of the filters that learn what the mixture leaves over, and the candidates it makes.
void Combiner::learn_stack(Output& output, std::size_t i, const Block& block, std::size_t o,
                           Workspace& space) const {
    Filter& stack = output.stacks[i];
    const double discount = 1.0 - kStackForgetting[i];
    const std::size_t n = block.rows, of_row = outputs() * candidates();
    const auto candidate = [&](std::size_t t) {
        return space.candidates.data() + t * of_row + o * candidates();
    };
    const auto learn_rows = [&](std::size_t start, std::size_t end) {
        stack.learn(space.x.data() + start * stack_features(), end - start,
                    {space.target.data() + start, 1, 1}, {&discount, 0},
                    {space.gain.data() + start, 1}, kNoWalk, space.left_over.data() + start);
    };
    if (block.made.values) {
        learn_rows(0, n);
        return;
    }
    std::size_t start = 0;
    for (std::size_t t = 0; t < n; ++t) {
        if (space.unit[t] == space.before[t].unit) continue;
        // The label of this row has changed the unit: predict in the old one.
        learn_rows(start, t);
        stack_row(candidate(t), space.before[t], space.x_before.data());
        double ahead;
        stack.predict(space.x_before.data(), 1, &ahead);
        learn_rows(t, t + 1);
        space.left_over[t] = ahead;
        start = t + 1;
    }
    learn_rows(start, n);
    for (std::size_t t = 0; t < n; ++t)
        candidate(t)[1 + i] = corrected(space.before[t], candidate(t)[0], space.left_over[t]);
}

void Combiner::learn(const Block& block) {
    const std::size_t n = block.rows, m = outputs(), of_row = m * candidates();
    Workspace& space = workspace();
    space.fit(n, of_row, stack_features());
    for (std::size_t o = 0; o < m; ++o) {
        learn_mixture(outputs_[o], block, o, space);
        for (std::size_t i = 0; i < kStacks; ++i) learn_stack(outputs_[o], i, block, o, space);
    }
    for (std::size_t t = 0; t < n; ++t) {
        const double* candidate = space.candidates.data() + t * of_row;
        for (std::size_t o = 0; o < m; ++o)
            block.out[t * block.width + o] = combined(candidate + o * candidates());
        if (!block.seen[t] || m == 0) continue;
        if (space.shrink[t] < 1.0) {
            for (double& loss : losses_) loss *= space.shrink[t];
            calm_.rescale(space.shrink[t]);
        }
        if (space.unit[t] > 0.0)
            learn_losses(candidate, block.labels + t * block.width, space.unit[t]);
    }
}

void Combiner::predict(const Block& block) const {
    Workspace& space = workspace();
    space.fit(1, candidates(), stack_features());
    double* candidate = space.candidates.data();
    for (std::size_t o = 0; o < outputs(); ++o) {
        const Output& output = outputs_[o];
        for (std::size_t t = 0; t < block.rows; ++t) {
            mix(output, block, t, o, candidate);
            stack_row(candidate, output.range, space.x.data());
            for (std::size_t i = 0; i < kStacks; ++i) {
                double left_over;
                output.stacks[i].predict(space.x.data(), 1, &left_over);
                candidate[1 + i] = corrected(output.range, candidate[0], left_over);
            }
            block.out[t * block.width + o] = combined(candidate);
            if (!block.made.values) continue;
            double* made = block.made.of(t, o);
            for (std::size_t c = 0; c < candidates(); ++c) made[c] = kept(candidate[c]);
        }
    }
}

void Combiner::learn_losses(const double* candidates, const double* labels, double unit) {
    if (coding_ == Coding::number)
        count_errors(candidates, labels[0], unit);
    else
        count_wrong_labels(candidates, labels);
    weigh();
}

void Combiner::count_errors(const double* candidates, double label, double unit) {
    for (std::size_t c = 0; c < losses_.size(); ++c) {
        const double error = (candidates[c] - label) / unit;
        losses_[c] = kLossDiscount * losses_[c] + error * error;
    }
    loss_rows_ = kLossDiscount * loss_rows_ + 1.0;
    calm_.learn(candidates, calm_.mix(candidates), label, unit, by_error());
}

void Combiner::count_wrong_labels(const double* candidates, const double* labels) {
    const std::size_t C = losses_.size(), m = outputs();
    const bool margin = coding_ == Coding::margin;
    const double discount = as_made_ ? kMadeLabelLossDiscount : kLabelLossDiscount;
    const std::size_t right = choose([&](std::size_t o) { return labels[o]; }, m, margin);
    for (std::size_t c = 0; c < C; ++c) {
        const auto of_candidate = [&](std::size_t o) { return candidates[o * C + c]; };
        losses_[c] = discount * losses_[c] + (choose(of_candidate, m, margin) != right);
    }
    loss_rows_ = discount * loss_rows_ + 1.0;
}

// Squared errors are counted in units of the best candidate's mean; wrong labels as they are.
void Combiner::weigh() {
    const bool number = coding_ == Coding::number;
    const double least = *std::min_element(losses_.begin(), losses_.end());
    const double unit = number ? std::max(least / std::max(loss_rows_, 1.0), kExact) : 1.0;
    const double eta = as_made_ && !number ? kMadeLabelEta : kEta;
    for (std::size_t c = 0; c < candidates(); ++c)
        shares_[c] = -eta * ((losses_[c] - least) / unit);
    default_kernel().exponentials(shares_.data(), candidates());
    double total = 0.0;
    for (std::size_t c = 0; c < candidates(); ++c) total += shares_[c];
    for (std::size_t c = 0; c < candidates(); ++c) {
        shares_[c] /= total;
        counts_[c] = number ? 0.5 * shares_[c] + 0.5 * calm_.weights()[c] : shares_[c];
    }
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

void Combiner::settle() {
    settle_part("calm", [&] { calm_.settle(); });
    weigh();
}

void Combiner::settle_output(std::size_t o) {
    Output& output = outputs_[o];
    settle_part("range", [&] { output.range.settle(coding_); });
    settle_part("mixture", [&] { output.mixture.settle(); });
    for (std::size_t i = 0; i < kStacks; ++i)
        settle_part("stack " + std::to_string(i), [&] { output.stacks[i].settle(); });
}

}  // namespace dfop
