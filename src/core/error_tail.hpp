// How rare the error of one row is, by the tail that the errors before it have shown.
//
// The size |e| is held against its own mean of late, r = |e| / max(m, .3 m2), where m and m2 take .03
// and .0015 of every row. q is the running .95 quantile of r. Of the rows above it the means M1 and M2 of
// log(r / q) and of its square give the tail of a generalised Pareto law by moments (Dekkers, Einmahl, de
// Haan 1989), with shape xi >= 0 and scale sigma:
//     P(r) = .05 (1 + xi (r - q) / sigma)^(-1 / xi).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "fields.hpp"

namespace dfop {

class ErrorTail {
public:
    // The probability of an error so large, from the rows before; then the row is learned.
    double update(double size) {
        const double ratio = std::min(size / usual(), kLargestRatio);
        rows_ += 1.0;
        const bool first = rows_ <= kFirstRows;  // errors fall while the model learns to predict
        const double p = first ? 1.0 : probability(ratio);
        if (!first) learn(ratio);
        quick_ = follow(quick_, size, kQuick);
        slow_ = follow(slow_, size, kSlow);
        return p;
    }

    // The size of errors of late.
    double usual() const { return std::max({quick_, kLeastQuick * slow_, kSmallest}); }

    template <class Self, class Visitor>
    static void fields(Self* self, Visitor&& visit) {
        const auto number = [&](const char* name, double low, double high, auto member) {
            visit.array({name, {}, low, high}, [=](std::size_t) -> auto& { return self->*member; });
        };
        number("rows", 0.0, kMostRows, &ErrorTail::rows_);
        number("quick", 0.0, kLargestSquare, &ErrorTail::quick_);
        number("slow", 0.0, kLargestSquare, &ErrorTail::slow_);
        number("quantile", kLeastQuantile, kLargestRatio, &ErrorTail::quantile_);
        number("exceeded", 0.0, kMostRows, &ErrorTail::exceeded_);
        number("log_mean", 0.0, kLargestLog, &ErrorTail::log_mean_);
        number("log_square", 0.0, kLargestLog * kLargestLog, &ErrorTail::log_square_);
    }

private:
    static constexpr double kQuick = 0.03, kSlow = 0.0015, kLeastQuick = 0.3, kClip = 10.0;
    static constexpr double kFirstRows = 100.0, kSmallest = 1e-305, kLargestRatio = 1e12;
    static constexpr double kAbove = 0.05, kStep = 0.01, kLeastQuantile = 1e-3;
    static constexpr double kMemory = 300.0, kPrior = 30.0;  // in rows above q
    static constexpr double kClippedAt = 1e-4, kLargestLog = 50.0;
    static constexpr double kLeastShape = 1e-6, kLeastSpread = 0.1;
    static constexpr double kLeastLog = 0.02;  // errors all of one size have no tail

    struct Tail {
        double shape, scale;
    };

    Tail tail() const {
        const double first = std::max(log_mean_, kLeastLog);
        const double second = std::max(log_square_, kLeastLog * kLeastLog);
        const double moment = 1.0 - 0.5 / std::max(1.0 - first * first / second, kLeastSpread);
        return {std::max(0.0, first + moment), quantile_ * first * (1.0 - std::min(moment, 0.0))};
    }

    double probability(double ratio) const {
        if (ratio <= quantile_) return 1.0;
        const auto [shape, scale] = tail();
        const double x = (ratio - quantile_) / scale;
        return kAbove *
               (shape < kLeastShape ? std::exp(-x) : std::pow(1.0 + shape * x, -1.0 / shape));
    }

    void learn(double ratio) {
        const bool above = ratio > quantile_;
        if (above) {
            const auto [shape, scale] = tail();
            const double odds = kAbove / kClippedAt;
            const double farthest =
                quantile_ + scale * (shape < kLeastShape ? std::log(odds)
                                                         : (std::pow(odds, shape) - 1.0) / shape);
            const double x = std::min(std::log(std::min(ratio, farthest) / quantile_), kLargestLog);
            const double share = std::max(1.0 / kMemory, 1.0 / (kPrior + exceeded_ + 1.0));
            exceeded_ += 1.0;
            log_mean_ += share * (x - log_mean_);
            log_square_ += share * (x * x - log_square_);
        }
        quantile_ *= std::exp(kStep * ((above ? 1.0 : 0.0) - kAbove));
        quantile_ = std::clamp(quantile_, kLeastQuantile, kLargestRatio);
    }

    double follow(double mean, double size, double share) const {
        const bool first = rows_ <= kFirstRows;
        const double most = first || mean <= kSmallest ? size : std::min(size, kClip * mean);
        return mean + std::max(share, 1.0 / rows_) * (most - mean);
    }

    double rows_ = 0.0, quick_ = 0.0, slow_ = 0.0;
    double quantile_ = 2.5, exceeded_ = 0.0;         // q of Gaussian errors
    double log_mean_ = 0.175, log_square_ = 0.0525;  // and their tail
};

}  // namespace dfop
