// Labels of many models by key that come late.
#include "keyed.hpp"

namespace dfop {

// Models that were given up before a row, which is counted from the first one of all.
void KeyedStore::lose_late(double row) {
    for (; lost_ < given_up_.size() && given_up_[lost_].row <= row; ++lost_) {
        const auto found = late_.find(given_up_[lost_].entry);
        if (found == late_.end()) continue;
        if (found->second.waiting > 0) gone_.push_back(found->second.ticket);
        late_.erase(found);
    }
    if (lost_ < given_up_.size()) return;
    given_up_.clear();
    lost_ = 0;
}

void KeyedStore::arrive(const std::int64_t* entries, const std::uint8_t* fresh, std::size_t n,
                        const double* X, PerRow discount, PerRow log_discount,
                        const Arrived& arrived, Out out) {
    const std::size_t d = fresh_.features(), m = fresh_.outputs(), classes = fresh_.classes();
    const std::size_t most = fresh_.most_made();
    for (std::size_t t = 0; t < n; ++t) {
        const auto entry = static_cast<Entry>(entries[t]);
        lose_late(rows_ - static_cast<double>(n - t - 1));
        bring(entry, fresh[t]);
        const std::size_t size = working_.arrive(X + t * d, discount[t], out.yhat + t * m,
                                                 out.ranks + t * classes, arrived.made + t * most);
        arrived.sizes[t] = static_cast<std::int64_t>(size);
        working_.pack(record(entry));
        Late& late = late_.try_emplace(entry, Late{0.0, 0.0, 0}).first->second;
        if (late.waiting++ == 0) late.ticket = ++tickets_;
        late.now += passed(log_discount[t]);
        arrived.stamps[t] = late.now;
        arrived.tickets[t] = late.ticket;
    }
}

std::int64_t KeyedStore::learn_late(std::int64_t entry, const double* x, const double* y,
                                    double stamp, double ticket, KeyedModel::MadeOfRow made) {
    const auto at = static_cast<Entry>(entry);
    Late* late = late_of(at);
    if (!late || late->ticket != ticket) return kGone;
    bring(at, false);
    const std::int64_t doubled = working_.learn_late(x, y, late->now - stamp, made);
    working_.pack(record(at));
    return --late->waiting > 0 ? doubled : 0;
}

void KeyedStore::remake(std::int64_t entry, const double* x, KeyedModel::MadeOfRow made) {
    bring(static_cast<Entry>(entry), false);
    working_.remake(x, made);
}

void KeyedStore::forget_late(std::int64_t entry, double ticket) {
    Late* late = late_of(static_cast<Entry>(entry));
    if (late && late->ticket == ticket) --late->waiting;
}

}  // namespace dfop
