// A bank of linear filters in one row of numbers, for many of them at rest.
#include <algorithm>

#include "bank.hpp"
#include "range_check.hpp"

namespace dfop {

double* MlPoly::pack(double* to) const {
    to = std::copy(regret_.begin(), regret_.end(), to);
    to = std::copy(squares_.begin(), squares_.end(), to);
    *to = largest_;
    return to + 1;
}

const double* MlPoly::unpack(const double* from) {
    const std::size_t experts = regret_.size();
    std::copy_n(from, experts, regret_.begin());
    std::copy_n(from + experts, experts, squares_.begin());
    largest_ = from[2 * experts];
    reweigh();
    return from + packed_size();
}

// What is known of the labels' range is fixed unless they are numbers, and so is the calm mixture.
std::size_t Combiner::packed_size() const {
    const bool number = coding_ == Coding::number;
    std::size_t size = losses_.size() + 1 + (number ? calm_.packed_size() : 0);
    for (const Output& output : outputs_) {
        size += (number ? 4 : 0) + output.mixture.packed_size();
        for (const Filter& stack : output.stacks) size += stack.packed_size();
    }
    return size;
}

double* Combiner::pack(double* to) const {
    const bool number = coding_ == Coding::number;
    to = std::copy(losses_.begin(), losses_.end(), to);
    *to++ = loss_rows_;
    if (number) to = calm_.pack(to);
    for (const Output& output : outputs_) {
        const Range& range = output.range;
        if (number)
            for (const double value : {range.low, range.high, range.unit, range.labels})
                *to++ = value;
        to = output.mixture.pack(to);
        for (const Filter& stack : output.stacks) {
            stack.pack(to);
            to += stack.packed_size();
        }
    }
    return to;
}

const double* Combiner::unpack(const double* from) {
    const bool number = coding_ == Coding::number;
    std::copy_n(from, losses_.size(), losses_.begin());
    from += losses_.size();
    loss_rows_ = *from++;
    if (number) from = calm_.unpack(from);
    for (Output& output : outputs_) {
        Range& range = output.range;
        if (number)
            for (double* value : {&range.low, &range.high, &range.unit, &range.labels})
                *value = *from++;
        from = output.mixture.unpack(from);
        for (Filter& stack : output.stacks) {
            stack.unpack(from);
            from += stack.packed_size();
        }
    }
    weigh();
    return from;
}

bool Bank::packable() const {
    if (design_.bounded) return false;
    for (const MapDesign& map : design_.maps)
        if (map.kind != FeatureMap::Kind::linear) return false;
    for (const ExpertDesign& expert : design_.experts)
        if (expert.kind != ExpertDesign::Kind::filter) return false;
    for (const LateCombiner& combiner : combiners_)
        if (combiner.late()) return false;
    return true;
}

std::size_t Bank::packed_size() const {
    std::size_t size = errors_.packed_size();
    for (const Expert& expert : experts_)
        size += std::get<FilterExpert>(expert).filter().packed_size();
    for (const LateCombiner& combiner : combiners_) size += combiner.packed_size();
    return size;
}

void Bank::pack(double* to) const {
    for (const Expert& expert : experts_) {
        const Filter& filter = std::get<FilterExpert>(expert).filter();
        filter.pack(to);
        to += filter.packed_size();
    }
    for (const LateCombiner& combiner : combiners_) to = combiner.pack(to);
    errors_.pack(to);
}

void Bank::unpack(const double* from) {
    for (Expert& expert : experts_) {
        Filter& filter = std::get<FilterExpert>(expert).filter();
        filter.unpack(from);
        from += filter.packed_size();
    }
    for (LateCombiner& combiner : combiners_) from = combiner.unpack(from);
    errors_.unpack(from);
}

void Bank::check() const {
    RangeCheck check;
    fields(features_, design_, this, check);
    Bank(*this).settle();
}

}  // namespace dfop
