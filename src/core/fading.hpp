// What a row does to an expert that forgets a share mu with every row.
#pragma once

#include <algorithm>
#include <cmath>

#include "filter.hpp"

namespace dfop {

// A row that stands for c rows decays the past by lam^c and enters with 1 + lam + ... + lam^(c-1),
// and one that came a while ago has faded as long.
struct Fading {
    double mu, rate;

    explicit Fading(double forgetting) : mu(forgetting), rate(-std::log1p(-forgetting)) {}

    // What the past counts after the time of a row.
    double discount(double elapsed) const {
        if (elapsed == 0.0) return 1.0;
        if (elapsed == 1.0) return 1.0 - mu;
        return std::max(std::exp(-rate * elapsed), kLeastDiscount);
    }

    // What a row counts that came `age` ago: infinite for one that shall be predicted only, -infinite
    // for one without a target.
    double gain(double elapsed, double age) const {
        if (std::isinf(age)) return age > 0.0 ? 0.0 : kNoTarget;
        double copies = 1.0;
        if (elapsed > 0.0 && elapsed != 1.0)
            copies = mu > 0.0 ? -std::expm1(-rate * elapsed) / mu : elapsed;
        return age > 0.0 ? copies * std::exp(-rate * age) : copies;
    }

private:
    static constexpr double kLeastDiscount = 1e-300;
};

}  // namespace dfop
