// States as plain numbers, for files: what must hold before they are taken over.
#pragma once

#include <cmath>
#include <stdexcept>
#include <vector>

namespace dfop {

inline void check_state(const std::vector<double>& state, bool fits) {
    if (!fits) throw std::invalid_argument("the state does not fit: it has the wrong length");
    for (const double value : state)
        if (!std::isfinite(value)) throw std::invalid_argument("the state is not finite");
}

}  // namespace dfop
