// A table with a row of features for each class.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace dfop {

// Makes the rows longer; what is new is 0.
inline void widen_rows(std::vector<double>& table, std::size_t rows, std::size_t features) {
    std::vector<double> wider(rows * features, 0.0);
    const std::size_t before = rows > 0 ? table.size() / rows : 0;
    for (std::size_t i = 0; i < rows; ++i)
        std::copy_n(table.begin() + static_cast<std::ptrdiff_t>(i * before), before,
                    wider.begin() + static_cast<std::ptrdiff_t>(i * features));
    table = std::move(wider);
}

// The sum of term(j) in four chains of which none waits for the other; more terms of 0 at the end
// change nothing.
template <class Term>
double sum_of(std::size_t count, const Term& term) {
    double sums[4] = {};
    std::size_t j = 0;
    for (; j + 4 <= count; j += 4)
        for (std::size_t k = 0; k < 4; ++k) sums[k] += term(j + k);
    for (std::size_t k = 0; j + k < count; ++k) sums[k] += term(j + k);
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

}  // namespace dfop
