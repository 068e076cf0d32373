// Which class the outputs of a row stand for: the one rule.
//
// Targets are a range of 1 apart, and outputs that differ by less than a billionth of it are equal
// but for rounding, which is another on every machine. So those that lie within kTie of the largest
// count as equal, and the first of them is chosen; a margin must exceed kTie for the second class.
#pragma once

#include <algorithm>
#include <cstddef>

namespace dfop {

inline constexpr double kTie = 1e-9;

// `of(k)` is output k; a margin is the only output of two classes coded -1 and 1.
template <class Of>
std::size_t choose(const Of& of, std::size_t outputs, bool margin) {
    if (outputs == 0) return 0;
    if (margin) return of(0) > kTie;
    double largest = of(0);
    for (std::size_t k = 1; k < outputs; ++k) largest = std::max(largest, of(k));
    for (std::size_t k = 0; k < outputs; ++k)
        if (of(k) >= largest - kTie) return k;
    return 0;
}

}  // namespace dfop
