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

double* Room::pack(double* to) const {
    for (const double value : {recent_, above_, below_, labels_, lateness_}) *to++ = value;
    return std::copy(losses_.begin(), losses_.end(), to);
}

const double* Room::unpack(const double* from) {
    for (double* value : {&recent_, &above_, &below_, &labels_, &lateness_}) *value = *from++;
    std::copy_n(from, losses_.size(), losses_.begin());
    return from + losses_.size();
}

// The second combination, behind a number that says whether there is one.
std::size_t LateCombiner::packed_size(bool late) const {
    const std::size_t size = at_once_.packed_size();
    return late ? 2 * size + 2 + kBoth + is_number() * (1 + Room::kPacked) : size;
}

double* LateCombiner::pack(double* to, bool late_too) const {
    double* end = to + packed_size(late_too);
    to = at_once_.pack(to);
    if (!late_too) return end;
    *to++ = late();
    if (!late()) {
        std::fill(to, end, 0.0);
        return end;
    }
    to = as_made_[0].pack(to);
    to = std::copy(losses_.begin(), losses_.end(), to);
    *to++ = loss_rows_;
    if (is_number()) {
        *to++ = labels_;
        room_.pack(to);
    }
    return end;
}

const double* LateCombiner::unpack(const double* from, bool late_too) {
    const double* end = from + packed_size(late_too);
    from = at_once_.unpack(from);
    if (!late_too || *from++ == 0.0) {
        close_late();
        return end;
    }
    if (!late()) open_late();
    from = as_made_[0].unpack(from);
    std::copy_n(from, kBoth, losses_.begin());
    from += kBoth;
    loss_rows_ = *from++;
    weigh();
    if (is_number()) {
        labels_ = *from++;
        room_.unpack(from);
        give_room();
    }
    return end;
}

// As if no label had come late.
void LateCombiner::close_late() {
    if (!late()) return;
    as_made_.clear();
    losses_ = {};
    loss_rows_ = labels_ = 0.0;
    room_ = {};
    weigh();
    if (is_number()) at_once_.give_room(0.0, 0.0);
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

std::size_t Bank::packed_size(bool late) const {
    std::size_t size = errors_.packed_size();
    for (const Expert& expert : experts_)
        size += std::get<FilterExpert>(expert).filter().packed_size();
    for (const LateCombiner& combiner : combiners_) size += combiner.packed_size(late);
    return size;
}

void Bank::pack(double* to, bool late) const {
    for (const Expert& expert : experts_) {
        const Filter& filter = std::get<FilterExpert>(expert).filter();
        filter.pack(to);
        to += filter.packed_size();
    }
    for (const LateCombiner& combiner : combiners_) to = combiner.pack(to, late);
    errors_.pack(to);
}

void Bank::unpack(const double* from, bool late) {
    for (Expert& expert : experts_) {
        Filter& filter = std::get<FilterExpert>(expert).filter();
        filter.unpack(from);
        from += filter.packed_size();
    }
    for (std::size_t c = 0; c < combiners_.size(); ++c) {
        from = combiners_[c].unpack(from, late);
        design_.targets[c].late = combiners_[c].late();
    }
    errors_.unpack(from);
}

void Bank::check() const {
    RangeCheck check;
    fields(features_, design_, this, check);
    Bank(*this).settle();
}

}  // namespace dfop
