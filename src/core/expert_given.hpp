// An expert whose answers come from outside, with the rows: it learns nothing here. NaN where it has no
// answer to a row; the combination knows what to make of that.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>

#include "expert.hpp"

namespace dfop {

class Given {
public:
    explicit Given(std::size_t which) : which_(which) {}

    void learn(const ExpertRows& rows, double* predictions) { predict(rows, predictions); }
    void predict(const ExpertRows& rows, double* predictions) const {
        for (std::size_t t = 0; t < rows.count; ++t, predictions += rows.width) {
            if (rows.given)
                std::copy_n(rows.given + (t * rows.own + which_) * rows.width, rows.width,
                            predictions);
            else
                std::fill_n(predictions, rows.width, std::numeric_limits<double>::quiet_NaN());
        }
    }
    void forget(double) {}

    void add_features(std::size_t) {}
    void add_outputs(std::size_t) {}
    void add_target(const TargetDesign&) {}
    void drop_first_target() {}
    void settle() {}

private:
    std::size_t which_;
};

}  // namespace dfop
