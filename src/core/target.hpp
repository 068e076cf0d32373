// What is predicted, and how it is coded in the outputs of experts.
#pragma once

#include <cstddef>
#include <vector>

#include "fields.hpp"

namespace dfop {

// A number; -1 and 1 for two classes; one output of 0 and 1 per class.
enum class Coding { number, margin, one_hot };

struct TargetDesign {
    Coding coding;
    std::size_t outputs;
    bool shadow = false;  // learned and combined, but its errors do not tell what experts are worth
    bool late = false;    // a label of it came late, see LateCombiner
};

inline std::size_t outputs_of(const std::vector<TargetDesign>& targets) {
    std::size_t outputs = 0;
    for (const TargetDesign& target : targets) outputs += bounded_size(target.outputs);
    return outputs;
}

}  // namespace dfop
