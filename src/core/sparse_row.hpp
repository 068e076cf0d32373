// Rows by their non-zeros.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "filter.hpp"

namespace dfop {

// Columns in ascending order.
struct SparseRow {
    const std::int32_t* columns;
    const double* values;
    std::size_t count;
};

// Finds those of dense rows; each is there until the next one is asked for.
class Nonzeros {
public:
    SparseRow of(const double* row, std::size_t width) {
        columns_.clear();
        values_.clear();
        for (std::size_t j = 0; j < width; ++j)
            if (row[j] != 0.0) {
                columns_.push_back(static_cast<std::int32_t>(j));
                values_.push_back(row[j]);
            }
        return {columns_.data(), values_.data(), columns_.size()};
    }

private:
    std::vector<std::int32_t> columns_;
    std::vector<double> values_;
};

// As Filter::replay: rows and labels in the order of `steps`, where row_at(s) gives row s.
template <class Model, class RowAt>
double replay_rows(Model& model, RowAt row_at, Targets y, Steps steps, PerRow discount,
                   PerRow log_discount, double* stamps, double now, double* yhat) {
    std::vector<double> unread(model.outputs());
    for (std::size_t i = 0; i < steps.count; ++i) {
        const std::int64_t step = steps.values[i];
        const auto s = static_cast<std::size_t>(step < 0 ? ~step : step);
        const SparseRow row = row_at(s);
        if (step < 0) {
            const double gain = std::exp(now - stamps[s]);
            model.learn(row, y.from(s).values, y.column, 1.0, gain, unread.data());
            continue;
        }
        stamps[s] = now += log_discount[s];
        double* ahead = yhat + s * model.outputs();
        if (i + 1 < steps.count && steps.values[i + 1] == ~step) {  // its label is there at once
            model.learn(row, y.from(s).values, y.column, discount[s], 1.0, ahead);
            ++i;
        } else {
            model.predict(row, ahead);
            model.forget(discount[s]);
        }
    }
    return now;
}

}  // namespace dfop
