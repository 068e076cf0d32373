#include "keyed.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <utility>

namespace dfop {
namespace {

// How many rows ahead memory is asked for: records while one is learned; places in the table, then
// entries, then their neighbours in the list while one is placed. Records from 3 to 16 rows ahead, into
// the second cache or for writing, made no difference that could be told from chance.
constexpr std::size_t kAhead = 6, kPlaces = 24, kEntries = 16, kNeighbours = 8;

// Mixes the bits of a number, so that neighbours are far from each other (splitmix64).
std::uint64_t mixed(std::uint64_t x) {
    x += 0x9e3779b97f4a7c15;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
}

}  // namespace

KeyedStore::KeyedStore(const KeyedModel& design, bool text, Bounds bounds)
    : fresh_(design), working_(design), text_(text), bounds_(bounds),
      record_size_(design.record_size()), stride_(stride_of(record_size_)), table_(16, kNone) {
    fresh_record_.resize(record_size_);
    fresh_.pack(fresh_record_.data());
}

// -- the table of keys ---------------------------------------------------------------------------

std::int64_t KeyedStore::key_of(const Keys& keys, std::size_t t) const {
    if (!text_) return keys.numbers[t];
    return static_cast<std::int64_t>(std::hash<std::string_view>{}(keys.texts[t]));
}

std::uint64_t KeyedStore::hash_of(const Keys& keys, std::size_t t) const {
    return mixed(static_cast<std::uint64_t>(key_of(keys, t)));
}

std::uint64_t KeyedStore::hash_of_entry(Entry entry) const {
    return mixed(static_cast<std::uint64_t>(idle_[entry].key));
}

bool KeyedStore::is_key(Entry entry, const Keys& keys, std::size_t t) const {
    return idle_[entry].key == key_of(keys, t) && (!text_ || names_[entry] == keys.texts[t]);
}

KeyedStore::Entry KeyedStore::lookup(const Keys& keys, std::size_t t) const {
    const std::size_t mask = table_.size() - 1;
    for (std::size_t at = hash_of(keys, t) & mask;; at = (at + 1) & mask) {
        const Entry entry = table_[at];
        if (entry == kNone || is_key(entry, keys, t)) return entry;
    }
}

void KeyedStore::insert(Entry entry) {
    const std::size_t mask = table_.size() - 1;
    std::size_t at = hash_of_entry(entry) & mask;
    while (table_[at] != kNone) at = (at + 1) & mask;
    table_[at] = entry;
}

// Entries behind the one that goes move up, so that no search ends too early.
void KeyedStore::erase(Entry entry) {
    const std::size_t mask = table_.size() - 1;
    std::size_t hole = hash_of_entry(entry) & mask;
    while (table_[hole] != entry) hole = (hole + 1) & mask;
    for (std::size_t at = (hole + 1) & mask; table_[at] != kNone; at = (at + 1) & mask) {
        const std::size_t home = hash_of_entry(table_[at]) & mask;
        if (((at - home) & mask) < ((at - hole) & mask)) continue;
        table_[hole] = table_[at];
        hole = at;
    }
    table_[hole] = kNone;
}

void KeyedStore::grow_table() {
    table_.assign(2 * table_.size(), kNone);
    for (Entry entry = 0; entry < idle_.size(); ++entry)
        if (held(entry)) insert(entry);
}

// -- the list of keys, the idlest first -------------------------------------------------------------

// The same order without a list.
std::vector<KeyedStore::Entry> KeyedStore::by_idleness() const {
    std::vector<Entry> entries;
    entries.reserve(size_);
    for (Entry entry = 0; entry < idle_.size(); ++entry)
        if (held(entry)) entries.push_back(entry);
    std::sort(entries.begin(), entries.end(),
              [&](Entry a, Entry b) { return idle_[a].touched < idle_[b].touched; });
    return entries;
}

void KeyedStore::unlink(Entry entry) {
    if (!bounded()) return;
    const Idle& idle = idle_[entry];
    (idle.before == kNone ? first_ : idle_[idle.before].after) = idle.after;
    (idle.after == kNone ? last_ : idle_[idle.after].before) = idle.before;
}

void KeyedStore::append(Entry entry) {
    if (!bounded()) return;
    idle_[entry].before = last_;
    idle_[entry].after = kNone;
    (last_ == kNone ? first_ : idle_[last_].after) = entry;
    last_ = entry;
}

// A store of few keys keeps to small pages.
KeyedStore::Chunk KeyedStore::new_chunk() const {
    const std::size_t bytes = kChunk * stride_ * sizeof(double);
    return Chunk(static_cast<double*>(allocate_large(bytes, !chunks_.empty())));
}

KeyedStore::Entry KeyedStore::open(const Keys& keys, std::size_t t, double touched) {
    if (bounds_.most_keys > 0 && size_ == bounds_.most_keys) {
        give_up(first_);
        ++evicted_;
    }
    Entry entry;
    if (!free_.empty()) {
        entry = free_.back();
        free_.pop_back();
    } else {
        entry = static_cast<Entry>(idle_.size());
        if (entry % kChunk == 0) chunks_.push_back(new_chunk());
        idle_.emplace_back();
        if (text_) names_.emplace_back();
    }
    idle_[entry].key = key_of(keys, t);
    if (text_) names_[entry] = keys.texts[t];
    idle_[entry].touched = touched;
    append(entry);
    if (4 * ++size_ > 3 * table_.size())
        grow_table();
    else
        insert(entry);
    return entry;
}

void KeyedStore::give_up(Entry entry) {
    erase(entry);
    unlink(entry);
    given_up_.push_back({rows_, entry});
    if (text_) std::string().swap(names_[entry]);
    idle_[entry].touched = kNever;
    free_.push_back(entry);
    --size_;
}

void KeyedStore::forget(const Keys& keys) {
    for (std::size_t t = 0; t < keys.count; ++t)
        if (const Entry entry = lookup(keys, t); entry != kNone) give_up(entry);
    lose_late(rows_);
}

void KeyedStore::give_up_idle() {
    while (first_ != kNone) {
        const double rows = rows_ - idle_[first_].touched;
        const bool many = bounds_.idle_rows > 0.0 && rows > bounds_.idle_rows;
        const bool long_ago =
            bounds_.idle_time > 0.0 && seconds_between(last_of(first_), now_) > bounds_.idle_time;
        if (!many && !long_ago) return;
        give_up(first_);
        ++expired_;
    }
}

Moment KeyedStore::last_of(Entry entry) const {
    const std::int64_t last = idle_[entry].last;
    return by_ticks_ ? Moment{0.0, last} : Moment{std::bit_cast<double>(last), 0};
}

void KeyedStore::set_last(Entry entry, const Moment& moment) {
    idle_[entry].last = by_ticks_ ? moment.ticks : std::bit_cast<std::int64_t>(moment.seconds);
}

void KeyedStore::prefetch_places(const Keys& keys, std::size_t t) const {
    const std::size_t mask = table_.size() - 1;
    if (t + kPlaces < keys.count) __builtin_prefetch(&table_[hash_of(keys, t + kPlaces) & mask]);
    const auto likely = [&](std::size_t ahead) {
        return t + ahead < keys.count ? table_[hash_of(keys, t + ahead) & mask] : kNone;
    };
    if (const Entry entry = likely(kEntries); entry != kNone) __builtin_prefetch(&idle_[entry]);
    if (!bounded()) return;
    if (const Entry entry = likely(kNeighbours); entry != kNone) {
        const Idle& idle = idle_[entry];
        if (idle.before != kNone) __builtin_prefetch(&idle_[idle.before]);
        if (idle.after != kNone) __builtin_prefetch(&idle_[idle.after]);
    }
}

void KeyedStore::place(const Keys& keys, Times times, std::int64_t* entries, std::uint8_t* fresh,
                       double* gaps) {
    by_ticks_ = by_ticks_ || times.ticks;
    for (std::size_t t = 0; t < keys.count; ++t) {
        if (times && (rows_ == 0.0 || seconds_between(now_, times[t]) > 0.0)) now_ = times[t];
        ++rows_;
        give_up_idle();
        prefetch_places(keys, t);
        Entry entry = lookup(keys, t);
        fresh[t] = entry == kNone;
        if (fresh[t]) {
            entry = open(keys, t, rows_);
        } else if (bounded() && entry != last_) {
            unlink(entry);
            append(entry);
        }
        gaps[t] = times && !fresh[t] ? seconds_between(last_of(entry), times[t]) : 0.0;
        set_last(entry, times[t]);
        idle_[entry].touched = rows_;
        entries[t] = entry;
    }
}

std::size_t KeyedStore::first_backwards(const Keys& keys, Times times) const {
    bool sorted = true;  // as rows mostly are: then each has to be compared with the past alone
    for (std::size_t t = 1; t < keys.count && sorted; ++t)
        sorted = seconds_between(times[t - 1], times[t]) >= 0.0;
    std::unordered_map<std::uint64_t, Moment> latest;  // of equal hashes the later one counts
    for (std::size_t t = 0; t < keys.count; ++t) {
        prefetch_places(keys, t);
        const Entry entry = lookup(keys, t);
        Moment before = entry == kNone ? times[t] : last_of(entry);
        if (!sorted) {
            const auto found = latest.try_emplace(hash_of(keys, t), before).first;
            before = std::exchange(found->second, times[t]);
        }
        if (seconds_between(before, times[t]) < 0.0) return t;
    }
    return keys.count;
}

void KeyedStore::find(const Keys& keys, std::int64_t* entries) const {
    for (std::size_t t = 0; t < keys.count; ++t) {
        const Entry entry = lookup(keys, t);
        entries[t] = entry == kNone ? -1 : static_cast<std::int64_t>(entry);
    }
}

bool KeyedStore::has(std::int64_t entry) const {
    return entry >= 0 && entry < static_cast<std::int64_t>(idle_.size());
}

// -- learning ------------------------------------------------------------------------------------

void KeyedStore::bring(Entry entry, bool fresh) {
    working_.unpack(fresh ? fresh_record_.data() : record(entry));
}

void KeyedStore::prefetch(const std::int64_t* entries, std::size_t t, std::size_t n) const {
    if (t + kAhead >= n || entries[t + kAhead] < 0) return;
    const double* next = record(static_cast<Entry>(entries[t + kAhead]));
    for (std::size_t i = 0; i < record_size_; i += kLine) __builtin_prefetch(next + i);
}

KeyedStore::Late* KeyedStore::late_of(Entry entry) {
    if (late_.empty()) return nullptr;
    const auto found = late_.find(entry);
    return found == late_.end() ? nullptr : &found->second;
}

void KeyedStore::learn(const std::int64_t* entries, const std::uint8_t* fresh, std::size_t n,
                       const double* X, const double* Y, PerRow discount, PerRow log_discount,
                       Out out) {
    const std::size_t d = fresh_.features(), m = fresh_.outputs();
    const std::size_t targets = fresh_.targets(), classes = fresh_.classes();
    for (std::size_t t = 0; t < n;) {
        const auto entry = static_cast<Entry>(entries[t]);
        std::size_t end = t + 1;  // rows of one key after each other are learned together
        while (end < n && entries[end] == entries[t] && !fresh[end]) ++end;
        prefetch(entries, t, n);
        lose_late(rows_ - static_cast<double>(n - end));
        bring(entry, fresh[t]);
        working_.learn(X + t * d, end - t, Y + t * targets, discount.from(t), kFullGain,
                       out.yhat + t * m, out.ranks + t * classes);
        working_.pack(record(entry));
        if (Late* late = late_of(entry)) {
            for (std::size_t i = t; i < end; ++i) late->now += passed(log_discount[i]);
            if (late->waiting == 0) late_.erase(entry);
        }
        t = end;
    }
}

void KeyedStore::predict(const std::int64_t* entries, std::size_t n, const double* X,
                         Out out) const {
    const std::size_t d = fresh_.features(), m = fresh_.outputs(), classes = fresh_.classes();
    for (std::size_t t = 0; t < n; ++t) {
        prefetch(entries, t, n);
        const bool known = entries[t] >= 0;
        if (known) working_.unpack(record(static_cast<Entry>(entries[t])));
        const KeyedModel& model = known ? working_ : fresh_;
        model.predict(X + t * d, out.yhat + t * m, out.ranks + t * classes);
    }
}

KeyedModel KeyedStore::model(std::int64_t entry) const {
    KeyedModel found = fresh_;
    found.unpack(record(static_cast<Entry>(entry)));
    return found;
}

void KeyedStore::grow(const KeyedModel& design, std::size_t most_keys) {
    bounds_.most_keys = most_keys;
    for (; most_keys > 0 && size_ > most_keys; ++evicted_) give_up(first_);
    lose_late(rows_);
    const KeyedModel::Growth growth = fresh_.growth_to(design);
    const std::size_t before = stride_;
    record_size_ = design.record_size();
    stride_ = stride_of(record_size_);
    for (std::size_t c = 0; c < chunks_.size(); ++c) {
        auto chunk = new_chunk();
        const std::size_t many = std::min(kChunk, idle_.size() - c * kChunk);
        for (std::size_t i = 0; i < many; ++i) {
            working_.unpack(chunks_[c].get() + i * before);
            KeyedModel grown = working_;
            grown.grow(growth);
            grown.pack(chunk.get() + i * stride_);
        }
        chunks_[c] = std::move(chunk);
    }
    fresh_ = working_ = design;
    fresh_record_.resize(record_size_);
    fresh_.pack(fresh_record_.data());
}

double KeyedStore::limited_rows() const {
    double sum = 0.0;
    for (Entry entry = 0; entry < idle_.size(); ++entry)
        if (held(entry)) sum += fresh_.limited_rows(record(entry));
    return sum;
}

std::size_t KeyedStore::memory_bytes() const {
    std::size_t bytes = idle_.size() * stride_ * sizeof(double);
    bytes += idle_.capacity() * sizeof(Idle) + table_.capacity() * sizeof(Entry) +
             free_.capacity() * sizeof(Entry) + names_.capacity() * sizeof(std::string) +
             late_.size() * kLateBytes;
    for (const std::string& name : names_)
        if (name.capacity() > 15) bytes += name.capacity() + 1;
    return bytes + sizeof(*this);
}

KeyedStore::Snapshot KeyedStore::snapshot() const {
    Snapshot out;
    out.rows = rows_, out.now = now_, out.evicted = evicted_, out.expired = expired_;
    out.tickets = tickets_;
    for (const Entry entry : by_idleness()) {
        const Idle& idle = idle_[entry];
        if (text_)
            out.texts.push_back(names_[entry]);
        else
            out.numbers.push_back(idle.key);
        const Moment last = last_of(entry);
        out.seconds.push_back(last.seconds);
        out.ticks.push_back(last.ticks);
        out.touched.push_back(idle.touched);
        out.records.insert(out.records.end(), record(entry), record(entry) + record_size_);
        if (const auto found = late_.find(entry); found != late_.end()) {
            const Late& late = found->second;
            const auto waiting = static_cast<double>(late.waiting);
            const auto place = static_cast<double>(out.entries.size());
            out.late.insert(out.late.end(), {place, late.now, late.ticket, waiting});
        }
        out.entries.push_back(entry);
    }
    return out;
}

void KeyedStore::restore(const Snapshot& in) {
    Keys keys{in.numbers.data(), {in.texts.begin(), in.texts.end()}, in.touched.size()};
    hold(bounds_.most_keys == 0 || keys.count <= bounds_.most_keys, "more keys than have room");
    by_ticks_ = in.now.ticks != 0;
    for (const std::int64_t ticks : in.ticks) by_ticks_ |= ticks != 0;
    for (std::size_t t = 0; t < keys.count; ++t) {
        hold(lookup(keys, t) == kNone, "keys: the same key twice");
        hold(in.touched[t] > kNever && (t == 0 || in.touched[t] > in.touched[t - 1]),
             "keys out of the order in which they were heard of");
        const Entry entry = open(keys, t, in.touched[t]);
        set_last(entry, {in.seconds[t], in.ticks[t]});
        const double* from = in.records.data() + t * record_size_;
        working_.unpack(from);
        working_.check();
        std::copy_n(from, record_size_, record(entry));
    }
    for (std::size_t i = 0; i < in.late.size(); i += 4) {
        const double place = in.late[i], waiting = in.late[i + 3];
        hold(place >= 0.0 && place < static_cast<double>(keys.count), "labels of no key");
        hold(std::isfinite(in.late[i + 1]) && waiting >= 0.0 && waiting < 1e15, "late labels");
        late_[static_cast<Entry>(place)] = {in.late[i + 1], in.late[i + 2],
                                            static_cast<std::size_t>(waiting)};
    }
    rows_ = in.rows, now_ = in.now, evicted_ = in.evicted, expired_ = in.expired;
    tickets_ = in.tickets;
}

}  // namespace dfop
