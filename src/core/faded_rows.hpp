// How time passes with the rows of a block, for an expert that is made of filters.
#pragma once

#include <cstddef>
#include <vector>

#include "expert.hpp"
#include "fading.hpp"

namespace dfop {

// Of every row what the past counts after it, what it counts itself, and how far weights walk. Good
// until the next block of the same thread.
struct FadedRows {
    PerRow discount, gain, walk;

    FadedRows(const ExpertRows& rows, const Fading& fading, double walk_of_row) {
        thread_local std::vector<double> scratch;
        const std::size_t n = rows.count;
        if (scratch.size() < 3 * n) scratch.resize(3 * n);
        double *discounts = scratch.data(), *gains = discounts + n, *walks = gains + n;
        for (std::size_t t = 0; t < n; ++t) {
            discounts[t] = fading.discount(rows.elapsed[t]);
            gains[t] = fading.gain(rows.elapsed[t], rows.age[t]);
            walks[t] = walk_of_row * rows.elapsed[t];
        }
        discount = {discounts, 1};
        gain = {gains, 1};
        walk = {walks, 1};
    }
};

}  // namespace dfop
