// One prediction from those of many experts, for one target: a number, or a class label coded in
// one or more outputs. Three layers, all of them learning while the stream runs:
//   1. ML-Poly (Gaillard, Stoltz, van Erven 2014): a convex mixture with no parameter.
//   2. Three small filters of different memory that learn what the mixture leaves over.
//   3. Mixture, filters and single experts, weighted by exp(-eta * their recent loss) in the loss
//      that counts: squared errors, or wrong labels. For numbers, half of the prediction is a
//      second ML-Poly over the same candidates, which is slower to follow and calmer.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "fields.hpp"
#include "filter.hpp"
#include "range.hpp"

namespace dfop {

class MlPoly {
public:
    explicit MlPoly(std::size_t experts);
    double mix(const double* predictions) const;
    // Who has no answer (NaN) says what the mixture of the others says: that changes no weight.
    void fill_in(double* predictions) const;
    // Regrets are slopes of the squared error at `mixed`, or `by_error` differences of squared errors.
    void learn(const double* predictions, double mixed, double label, double unit, bool by_error);
    void rescale(double shrink);  // squared errors in the new unit are so much smaller
    // As a Filter; both return the end.
    std::size_t packed_size() const { return 2 * regret_.size() + 1; }
    double* pack(double* to) const;
    const double* unpack(const double* from);
    const std::vector<double>& weights() const { return weights_; }

    template <class Self, class Visitor>
    static void fields(std::size_t experts, Self* self, Visitor&& visit) {
        visit.array({"regret", {experts}, -1e161, 1e161},
                    [=](std::size_t k) -> auto& { return self->regret_[k]; });
        visit.array({"squares", {experts}, 0.0, kLargestSquare},
                    [=](std::size_t k) -> auto& { return self->squares_[k]; });
        visit.array({"largest", {}, 0.0, kLargestSquare},
                    [=](std::size_t) -> auto& { return self->largest_; });
    }
    void settle();

private:
    void reweigh();

    std::vector<double> regret_, squares_, weights_;
    double largest_ = 0.0;
};

// What was predicted of rows: of row t and output o at [t * stride + o * of_output].
struct Made {
    double* values = nullptr;  // none: nothing is known of that
    std::size_t stride = 0, of_output = 0;

    Made from(std::size_t t) const {
        return {values ? values + t * stride : nullptr, stride, of_output};
    }
    double* of(std::size_t t, std::size_t o) const { return values + t * stride + o * of_output; }
};

class Combiner {
public:
    static constexpr std::size_t kStacks = 3;

    Combiner(Coding coding, std::size_t outputs, std::size_t experts);

    std::size_t outputs() const { return outputs_.size(); }
    std::size_t candidates() const { return 1 + kStacks + experts_; }
    // Of a class label: copies of the last one. If that one never had a label of 1, the new ones
    // are what they would be had they been there from the start.
    void add_outputs(std::size_t count);
    void drop_last_output() { outputs_.pop_back(); }

    // Draws in what is far out of row t's number at [t * width]; the range grows with the labels.
    void bound_labels(std::size_t rows, std::size_t width, const unsigned char* seen,
                      double* labels, Range& range) const;
    Range range() const { return outputs_.empty() ? Range::of(coding_) : outputs_[0].range; }

    // Rows with the predictions of all experts: expert k, row t, output o at
    // [(k * stride + t) * width + o]. They are clipped to the labels seen before the row.
    struct Block {
        std::size_t rows, width;
        double* predictions;
        std::size_t stride;
        const double* labels;       // row t, output o at [t * width + o]
        const unsigned char* seen;  // a row that is not is predicted only
        double* out;                // as labels
        Made made{};

        Block row(std::size_t t) const {
            return {1,
                    width,
                    predictions + t * width,
                    stride,
                    labels ? labels + t * width : nullptr,
                    seen ? seen + t : nullptr,
                    out + t * width,
                    made.from(t)};
        }
    };
    // Learns from what was predicted of the rows when they came, where `made` says that, and else
    // from what it predicts of them now.
    void learn(const Block&);
    // Labels and seen are not read; what is predicted is put down in `made`.
    void predict(const Block&) const;

    // What the candidates of an output are kept as: single precision will do for a class label.
    double kept(double value) const {
        return coding_ == Coding::number ? value : static_cast<double>(static_cast<float>(value));
    }
    // From now on it is judged by predictions as they were made: candidates are as they are kept. Of
    // numbers, mixtures compare errors: when a series has left all predictions of many rows, slopes
    // favour who is farthest out.
    void judge_as_made() { as_made_ = true; }
    Coding coding() const { return coding_; }
    bool learned() const { return loss_rows_ > 0.0; }
    // Of a number: room beyond the labels so far, and how the mixture weighs experts.
    void give_room(double above, double below) {
        outputs_[0].range.above = above;
        outputs_[0].range.below = below;
    }
    const MlPoly& mixture() const { return outputs_[0].mixture; }

    // What each expert counts in the prediction of an output; the shares add up to 1.
    std::vector<double> expert_weights(std::size_t output) const;

    // What the outputs share, and one of them.
    template <class Self, class Visitor>
    static void fields(std::size_t experts, Self* self, Visitor&& visit) {
        const std::size_t candidates = 1 + kStacks + experts;
        visit.array({"losses", {candidates}, 0.0, kLargestLoss},
                    [=](std::size_t c) -> auto& { return self->losses_[c]; });
        visit.array({"rows", {}, 0.0, kLargestLoss},
                    [=](std::size_t) -> auto& { return self->loss_rows_; });
        MlPoly::fields(candidates, self ? &self->calm_ : nullptr, part_of(visit, "calm"));
    }
    template <class Self, class Visitor>
    static void output_fields(Coding coding, std::size_t experts, std::size_t o, Self* self,
                              Visitor&& visit) {
        const bool label = coding != Coding::number;
        auto* output = self ? &self->outputs_[o] : nullptr;
        Range::fields(output ? &output->range : nullptr, part_of(visit, "range"));
        MlPoly::fields(experts, output ? &output->mixture : nullptr, part_of(visit, "mixture"));
        for (std::size_t i = 0; i < kStacks; ++i)
            Filter::fields(experts + label, 1, label, output ? &output->stacks[i] : nullptr,
                           part_of(visit, "stack " + std::to_string(i)));
    }
    void settle();
    void settle_output(std::size_t o);

    // As a Filter; both return the end.
    std::size_t packed_size() const;
    double* pack(double* to) const;
    const double* unpack(const double* from);

private:
    // Above any sum of discounted losses.
    static constexpr double kLargestLoss = 1e9;

    struct Output {
        Range range;
        MlPoly mixture;
        std::vector<Filter> stacks;
    };
    struct Workspace;
    static Workspace& workspace();

    Output fresh_output() const;
    std::size_t stack_features() const { return experts_ + (coding_ != Coding::number); }
    // The steps of a row: the experts and their mixture, what the stacks see, what they make of it,
    // and the prediction.
    void mix(const Output&, const Block&, std::size_t t, std::size_t o, double* candidate) const;
    void stack_row(const double* candidate, const Range&, double* x) const;
    double corrected(const Range&, double mixed, double left_over) const;
    double candidate_of(double value) const { return as_made_ ? kept(value) : value; }
    bool by_error() const { return as_made_ && coding_ == Coding::number; }
    double combined(const double* candidate) const;
    // The steps of a block of rows, of one output.
    void learn_mixture(Output&, const Block&, std::size_t o, Workspace&) const;
    void learn_stack(Output&, std::size_t i, const Block&, std::size_t o, Workspace&) const;
    double include(Output&, double label) const;

    void weigh();
    void learn_losses(const double* candidates, const double* labels, double unit);
    void count_errors(const double* candidates, double label, double unit);
    void count_wrong_labels(const double* candidates, const double* labels);

    Coding coding_;
    std::size_t experts_;
    std::vector<Output> outputs_;
    std::vector<double> losses_;  // discounted sum, one per candidate
    double loss_rows_ = 0.0;      // discounted count
    std::vector<double> shares_;  // from the losses
    MlPoly calm_;                 // of the candidates for a number
    std::vector<double> counts_;  // what each candidate counts in the prediction
    bool as_made_ = false;        // see judge_as_made
};

}  // namespace dfop
