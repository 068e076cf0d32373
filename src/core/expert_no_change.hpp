// The expert that says the last label again: hard to beat where labels stick.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "expert.hpp"

namespace dfop {

class NoChange {
public:
    void learn(const ExpertRows& rows, double* predictions) {
        for (std::size_t t = 0; t < rows.count; ++t) {
            std::copy(last_.begin(), last_.end(), predictions + t * rows.width);
            if (rows.seen[t]) std::copy_n(rows.labels + t * rows.width, rows.width, last_.begin());
        }
    }
    void predict(const ExpertRows& rows, double* predictions) const {
        for (std::size_t t = 0; t < rows.count; ++t)
            std::copy(last_.begin(), last_.end(), predictions + t * rows.width);
    }
    void forget(double) {}

    void add_features(std::size_t) {}
    void add_outputs(std::size_t count) {
        outputs_.back() += count;
        last_.resize(last_.size() + count, 0.0);
    }
    void add_target(const TargetDesign& target) {
        outputs_.push_back(0);
        add_outputs(target.outputs);
    }
    void drop_first_target() {
        last_.erase(last_.begin(), last_.begin() + static_cast<std::ptrdiff_t>(outputs_.front()));
        outputs_.erase(outputs_.begin());
    }

    template <class Self, class Visitor>
    static void fields(std::size_t outputs, Self* self, Visitor&& visit) {
        visit.array({"last", {outputs}, -kLargest, kLargest},
                    [=](std::size_t o) -> auto& { return self->last_[o]; });
    }
    void settle() {}

private:
    std::vector<std::size_t> outputs_;  // of every target
    std::vector<double> last_;          // 0 before the first label
};

}  // namespace dfop
