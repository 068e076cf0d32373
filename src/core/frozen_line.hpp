// A linear image of the model's predictions, and a copy of it as it was before a shock.
//
// Freezing all experts would be dear. A filter of period 1000 learns how much the prediction changes
// with the row, from one row to the next (not the targets: so no outlier enters it; and not the
// predictions themselves: where a level walks, its way would be taken for noise of the slopes). The copy
// goes through the mean of rows and predictions of late, and says what the model would have gone on
// to predict.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "fields.hpp"
#include "filter.hpp"

namespace dfop {

class FrozenLine {
public:
    FrozenLine(std::size_t features, std::size_t outputs)
        : line_(0, outputs, false, kPriorVariance, true, std::numeric_limits<double>::infinity()),
          last_(features), means_(features), step_(features), last_prediction_(outputs),
          predictions_(outputs), prediction_step_(outputs), slopes_(features * outputs),
          constants_(outputs), direction_(outputs), room_(outputs) {
        line_.add_features(features);  // so that the prior is that of columns that come later
    }

    std::size_t features() const { return line_.features(); }
    std::size_t outputs() const { return line_.outputs(); }

    void learn(const double* x, const double* predicted) {
        if (started_ == 0.0) {
            std::copy_n(x, features(), last_.begin());
            std::copy_n(x, features(), means_.begin());
            std::copy_n(predicted, outputs(), last_prediction_.begin());
            std::copy_n(predicted, outputs(), predictions_.begin());
            started_ = 1.0;
            return;
        }
        step(x, last_, means_, step_);
        step(predicted, last_prediction_, predictions_, prediction_step_);
        line_.learn(step_.data(), 1,
                    {prediction_step_.data(), static_cast<std::ptrdiff_t>(outputs()), 1},
                    {&kDiscount, 0}, kFullGain, kNoWalk, room_.data());
    }

    // Keeps the line as it is, and the direction of the error.
    void freeze(const double* error, double size) {
        line_.coefficients(slopes_.data(), room_.data());
        for (std::size_t o = 0; o < outputs(); ++o) {
            constants_[o] = 0.0;
            constants_[o] = std::clamp(predictions_[o] - value(means_.data(), o), -kLargestSquare,
                                       kLargestSquare);
            direction_[o] = size > 0.0 ? error[o] / size : 0.0;
        }
    }

    // How far a target is from the frozen line, in the direction of the error at the shock.
    double away(const double* x, const double* predicted, const double* error) const {
        double sum = 0.0;
        for (std::size_t o = 0; o < outputs(); ++o)
            sum += direction_[o] * (error[o] + (predicted[o] - value(x, o)));
        return sum;
    }

    void add_features(std::size_t count) {  // as if they had been there, always 0
        const std::size_t before = features(), after = before + count;
        std::vector<double> slopes(after * outputs());
        for (std::size_t o = 0; o < outputs(); ++o)
            std::copy_n(slopes_.begin() + static_cast<std::ptrdiff_t>(o * before), before,
                        slopes.begin() + static_cast<std::ptrdiff_t>(o * after));
        slopes_ = std::move(slopes);
        for (auto* some : {&means_, &last_, &step_}) some->resize(after);
        line_.add_features(count);
    }

    template <class Self, class Visitor>
    static void fields(std::size_t features, std::size_t outputs, Self* self, Visitor&& visit) {
        Filter::fields(features, outputs, false, self ? &self->line_ : nullptr,
                       part_of(visit, "line"));
        const auto numbers = [&](const char* name, std::vector<std::size_t> shape, auto member) {
            visit.array({name, std::move(shape), -kLargestSquare, kLargestSquare},
                        [=](std::size_t i) -> auto& { return (self->*member)[i]; });
        };
        visit.array({"started", {}, 0.0, 1.0},
                    [=](std::size_t) -> auto& { return self->started_; });
        numbers("last", {features}, &FrozenLine::last_);
        numbers("means", {features}, &FrozenLine::means_);
        numbers("last_prediction", {outputs}, &FrozenLine::last_prediction_);
        numbers("predictions", {outputs}, &FrozenLine::predictions_);
        numbers("slopes", {outputs, features}, &FrozenLine::slopes_);
        numbers("constants", {outputs}, &FrozenLine::constants_);
        numbers("direction", {outputs}, &FrozenLine::direction_);
    }
    void settle() {
        settle_part("line", [&] { line_.settle(); });
    }

private:
    static constexpr double kDiscount = 0.999, kPriorVariance = 3000.0;
    static constexpr double kShare = 0.5;  // of a row in the means of late

    // Half of how far values went since the last ones, which keeps within what a filter can take.
    static void step(const double* now, std::vector<double>& last, std::vector<double>& means,
                     std::vector<double>& half) {
        for (std::size_t i = 0; i < last.size(); ++i) {
            half[i] = 0.5 * now[i] - 0.5 * last[i];
            means[i] += kShare * (now[i] - means[i]);
            last[i] = now[i];
        }
    }

    double value(const double* x, std::size_t o) const {
        double sum = constants_[o];
        const double* slopes = slopes_.data() + o * features();
        for (std::size_t j = 0; j < features(); ++j) sum += slopes[j] * x[j];
        return sum;
    }

    Filter line_;
    double started_ = 0.0;                     // whether there is a last row
    std::vector<double> last_, means_, step_;  // of rows
    std::vector<double> last_prediction_, predictions_, prediction_step_;
    std::vector<double> slopes_, constants_, direction_, room_;  // frozen, and scratch
};

}  // namespace dfop
