// The expert that is a filter: recursive least squares on what a map makes of the rows.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "expert.hpp"
#include "faded_rows.hpp"
#include "fading.hpp"
#include "filter.hpp"

namespace dfop {

class FilterExpert {
public:
    FilterExpert(const ExpertDesign& design, Filter filter)
        : map_(design.map), walk_(design.walk), fading_(design.mu), filter_(std::move(filter)) {}

    const Filter& filter() const { return filter_; }
    Filter& filter() { return filter_; }

    void learn(const ExpertRows& rows, double* predictions) {
        const FadedRows faded(rows, fading_, walk_);
        filter_.learn(rows.views[map_], rows.count,
                      {rows.labels, static_cast<std::ptrdiff_t>(rows.width), 1}, faded.discount,
                      faded.gain, faded.walk, predictions);
    }
    void predict(const ExpertRows& rows, double* predictions) const {
        filter_.predict(rows.views[map_], rows.count, predictions);
    }
    void forget(double elapsed) { filter_.forget(fading_.discount(elapsed), walk_ * elapsed); }

    void add_features(std::size_t count) { filter_.add_features(count); }  // of its map
    void add_outputs(std::size_t count) {
        outputs_.back() += count;
        filter_.add_outputs(count);
    }
    void add_target(const TargetDesign& target) {
        outputs_.push_back(target.outputs);
        filter_.add_outputs(target.outputs);
    }
    void drop_last_output() {
        --outputs_.back();
        filter_.drop_output(filter_.outputs() - 1);
    }
    void drop_first_target() {
        for (std::size_t o = 0; o < outputs_.front(); ++o) filter_.drop_output(0);
        outputs_.erase(outputs_.begin());
    }

    template <class Self, class Visitor>
    static void fields(std::size_t inputs, std::size_t outputs, bool intercept, Self* self,
                       Visitor&& visit) {
        Filter::fields(inputs, outputs, intercept, self ? &self->filter_ : nullptr, visit);
    }
    void settle() { filter_.settle(); }

private:
    std::size_t map_;
    double walk_;
    Fading fading_;
    Filter filter_;
    std::vector<std::size_t> outputs_;  // of every target
};

}  // namespace dfop
