// Many models of one design, one per key, in one store. A model at rest is a record; to learn a row
// it is unpacked into the one that works (KeyedModel), so a key costs its record, its entry and its
// place in the table of keys, and the bits are those of a model of its own.
//
// Where the store is bounded, keys form a list in the order in which they were last heard of. From its
// end they are given up where they have been idle for too long, or where a new key finds the store
// full. Without bounds there is no list: to keep it takes two more places of memory a row. All of it is
// decided row by row, so it does not depend on how rows are cut into calls: `place` decides for
// some rows which entry each uses and whether it begins anew, `learn` or `arrive` then goes through
// them. A model that is given up loses its late labels when they come to the row at which that
// happened, not before: rows of it may come first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "keyed_model.hpp"
#include "large_pages.hpp"

namespace dfop {

// Keys of some rows: whole numbers or texts.
struct Keys {
    const std::int64_t* numbers = nullptr;
    std::vector<std::string_view> texts;
    std::size_t count = 0;
};

// Moments of some rows: numbers of seconds, or whole nanoseconds, which a double cannot hold.
struct Moment {
    double seconds = 0.0;
    std::int64_t ticks = 0;
};

struct Times {
    const double* seconds = nullptr;
    const std::int64_t* ticks = nullptr;
    explicit operator bool() const { return seconds || ticks; }
    Moment operator[](std::size_t t) const {
        return {seconds ? seconds[t] : 0.0, ticks ? ticks[t] : 0};
    }
};

// Seconds from one moment to a later one; one of the two parts of both is 0.
inline double seconds_between(const Moment& before, const Moment& after) {
    return (after.seconds - before.seconds) +
           static_cast<double>(static_cast<__int128>(after.ticks) - before.ticks) * 1e-9;
}

class KeyedStore {
public:
    struct Bounds {
        std::size_t most_keys;  // 0: as many as come
        double idle_rows;       // of all keys, 0: any
        double idle_time;       // 0: any
    };

    KeyedStore(const KeyedModel& design, bool text, Bounds bounds);

    // Which entry each row uses, whether that begins anew with the row, and, where times are given,
    // how long after the row before of its key it comes.
    void place(const Keys& keys, Times times, std::int64_t* entries, std::uint8_t* fresh,
               double* gaps);
    // The first row that comes before the last one of its key; the number of rows where none does.
    std::size_t first_backwards(const Keys& keys, Times times) const;
    // -1 where a key is not known.
    void find(const Keys& keys, std::int64_t* entries) const;

    // What is predicted, and the ranks of classes (see KeyedModel), both before each row.
    struct Out {
        double* yhat;
        std::int32_t* ranks;
    };

    void learn(const std::int64_t* entries, const std::uint8_t* fresh, std::size_t n,
               const double* X, const double* Y, PerRow discount, PerRow log_discount, Out out);
    void predict(const std::int64_t* entries, std::size_t n, const double* X, Out out) const;

    // Labels that come late, as Filter::replay and Bank::replay do it: a row is predicted and its time
    // passes. `stamps`, `tickets` and what a bank made of it, `sizes` of the `most_made` numbers of its
    // line, are what its label must be brought with.
    struct Arrived {
        double *stamps, *tickets, *made;
        std::int64_t* sizes;
    };
    void arrive(const std::int64_t* entries, const std::uint8_t* fresh, std::size_t n,
                const double* X, PerRow discount, PerRow log_discount, const Arrived& arrived,
                Out out);
    // How many labels the model has had if that is twice as many as when rows of it that wait were last
    // predicted once more, else 0; kGone if the model that predicted the row is not there any more, and
    // the label is not learned.
    static constexpr std::int64_t kGone = -1;
    std::int64_t learn_late(std::int64_t entry, const double* x, const double* y, double stamp,
                            double ticket, KeyedModel::MadeOfRow made);
    void remake(std::int64_t entry, const double* x, KeyedModel::MadeOfRow made);
    void forget_late(std::int64_t entry, double ticket);

    std::size_t size() const { return size_; }
    std::size_t record_size() const { return record_size_; }
    std::size_t record_bytes() const { return stride_ * sizeof(double); }
    std::size_t memory_bytes() const;
    double evicted() const { return evicted_; }
    double expired() const { return expired_; }
    double rows() const { return rows_; }
    double limited_rows() const;  // of all models
    bool text() const { return text_; }
    const KeyedModel& design() const { return fresh_; }
    KeyedModel model(std::int64_t entry) const;
    Moment last(std::int64_t entry) const { return last_of(static_cast<Entry>(entry)); }
    Moment now() const { return now_; }  // the latest of all
    bool has(std::int64_t entry) const;

    // Every key begins as this design from now on, which has more features, classes or outputs, or
    // room for late labels; records become longer, so fewer keys may be wanted (0: any).
    void grow(const KeyedModel& design, std::size_t most_keys);

    // Gives up models, as if their keys had never been heard of.
    void forget(const Keys& keys);

    // The tickets of models that rows waited for and that were given up since this was last asked, in
    // the order in which that happened.
    std::vector<double> take_gone() { return std::exchange(gone_, {}); }

    // Everything that decides how the store goes on, keys from the idlest on. The rows that wait
    // are kept by who brings their labels; `entries` are those that it knows keys by, and `late` is
    // what a key needs for its labels: its place among the keys, now, ticket, waiting.
    struct Snapshot {
        std::vector<std::int64_t> numbers;
        std::vector<std::string> texts;
        std::vector<double> seconds, touched, records;  // the moments of the last rows
        std::vector<std::int64_t> ticks;
        Moment now;
        double rows, evicted, expired, tickets;
        std::vector<double> late;
        std::vector<std::int64_t> entries;  // not read by `restore`, which numbers them from 0
    };
    Snapshot snapshot() const;
    void restore(const Snapshot& snapshot);  // into a store that is empty

private:
    using Entry = std::uint32_t;
    static constexpr Entry kNone = 0xffffffff;
    static constexpr double kNever = 0.0;         // rows are counted from 1
    static constexpr std::size_t kChunk = 16384;  // records that are allocated together
    static constexpr std::size_t kLine = 64 / sizeof(double);  // doubles of a line of the cache

    struct Release {
        void operator()(double* chunk) const { release_large(chunk); }
    };
    using Chunk = std::unique_ptr<double[], Release>;
    struct Idle {
        std::int64_t key;     // a number, or the hash of a text
        std::int64_t last;    // when its last row came: seconds as a double, or ticks
        double touched;       // which of all rows that was; kNever where the entry is free
        Entry before, after;  // kNone where there are no bounds
    };
    struct GivenUp {
        double row;  // the count of rows when it happened
        Entry entry;
    };
    struct Late {
        double now = 0.0;  // log of the product of discounts, of a bank rows
        double ticket;
        std::size_t waiting = 0;
    };
    // In a table of nodes: what links and finds it, and what the allocator adds.
    static constexpr std::size_t kLateBytes =
        sizeof(std::pair<const Entry, Late>) + 3 * sizeof(void*);

    std::uint64_t hash_of(const Keys& keys, std::size_t t) const;
    std::int64_t key_of(const Keys& keys, std::size_t t) const;
    Entry lookup(const Keys& keys, std::size_t t) const;
    bool is_key(Entry entry, const Keys& keys, std::size_t t) const;
    std::uint64_t hash_of_entry(Entry entry) const;
    void insert(Entry entry);
    void erase(Entry entry);
    void grow_table();
    Entry open(const Keys& keys, std::size_t t, double touched);
    void give_up(Entry entry);
    void give_up_idle();
    void prefetch_places(const Keys& keys, std::size_t t) const;
    bool bounded() const {
        return bounds_.most_keys > 0 || bounds_.idle_rows > 0.0 || bounds_.idle_time > 0.0;
    }
    bool held(Entry entry) const { return idle_[entry].touched != kNever; }
    std::vector<Entry> by_idleness() const;
    void unlink(Entry entry);
    void append(Entry entry);
    double* record(Entry entry) { return chunks_[entry / kChunk].get() + entry % kChunk * stride_; }
    const double* record(Entry entry) const {
        return chunks_[entry / kChunk].get() + entry % kChunk * stride_;
    }
    static constexpr std::size_t stride_of(std::size_t size) {
        return (size + kLine - 1) / kLine * kLine;
    }
    Chunk new_chunk() const;
    Moment last_of(Entry entry) const;
    void set_last(Entry entry, const Moment& moment);
    void bring(Entry entry, bool fresh);
    void prefetch(const std::int64_t* entries, std::size_t t, std::size_t n) const;
    Late* late_of(Entry entry);
    void lose_late(double row);
    double passed(double log_discount) const { return fresh_.is_bank() ? 1.0 : log_discount; }

    KeyedModel fresh_;            // as every key begins
    mutable KeyedModel working_;  // unpacked
    std::vector<double> fresh_record_;
    bool text_;
    Bounds bounds_;
    std::size_t record_size_, stride_;  // a record begins with a line of the cache
    std::size_t size_ = 0;
    std::vector<Chunk> chunks_;
    std::vector<Idle, LargePages<Idle>> idle_;
    std::vector<std::string> names_;  // of texts
    std::vector<Entry> free_;
    std::vector<Entry, LargePages<Entry>> table_;  // open addressing, as many as a power of two
    Entry first_ = kNone, last_ = kNone;
    std::unordered_map<Entry, Late> late_;
    std::vector<GivenUp> given_up_;  // whose late labels are not lost yet, from `lost_` on
    std::size_t lost_ = 0;
    std::vector<double> gone_;
    bool by_ticks_ = false;  // whether moments are ticks
    Moment now_;             // the latest
    double rows_ = 0.0, evicted_ = 0.0, expired_ = 0.0, tickets_ = 0.0;
};

}  // namespace dfop
