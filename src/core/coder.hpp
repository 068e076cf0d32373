// From rows with text, gaps and new columns to rows of numbers.
//
// A column of numbers is coded as itself. Its first gap opens an indicator, a coded column that is
// 1 where the number is missing; the number itself is then replaced by the mean of those before
// it. A column of text has a coded column per text, 1 where the cell holds it, opened as the texts
// come; after `most_texts` of them, further ones share `kBuckets` columns by their hash. A missing
// text opens an indicator, too.
//
// Coded columns are opened in the order of the rows and never moved, and a row is coded with what
// the rows before it have shown. So the coded rows are the same for any split into batches, and a
// new coded column is one that was 0 in all rows before: least squares can take it up exactly.
//
// Here is the rule of one cell: what it opens (`show_...`), and where it stands (`Column`). Batches
// (batch_coder.hpp) and dicts (dict_coder.hpp) are two loops over it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "means.hpp"

namespace dfop {

inline constexpr std::size_t kMostTexts = 100;
inline constexpr std::size_t kBuckets = 32;
inline constexpr std::size_t kNone = static_cast<std::size_t>(-1);

// By its first value; none while all values were missing.
enum class Kind : unsigned char { none, number, text };

// Which of the shared columns a text falls into, the same on every machine: CRC-32 of its UTF-8.
std::size_t bucket_of(std::string_view text);

struct TextHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
        return std::hash<std::string_view>()(text);
    }
};
using TextPlaces = std::unordered_map<std::string, std::size_t, TextHash, std::equal_to<>>;

// Coded columns by bucket, kNone where there is none yet.
class Buckets {
public:
    std::size_t operator[](std::size_t bucket) const {
        return places_.empty() ? kNone : places_[bucket];
    }
    void set(std::size_t bucket, std::size_t place) {
        if (places_.empty()) places_.assign(kBuckets, kNone);
        places_[bucket] = place;
    }
    bool empty() const;
    // (bucket, coded column), in the order in which they were opened.
    std::vector<std::pair<std::size_t, std::size_t>> in_order() const;

private:
    std::vector<std::size_t> places_;
};

// How a column is coded: the coded columns that it has.
struct Column {
    std::size_t place;  // of its numbers, or of its first text
    Kind kind = Kind::none;
    std::size_t gap = kNone;         // of the indicator of missing values, once there was one
    std::vector<std::string> texts;  // in the order in which they came
    TextPlaces places;               // of the texts
    Buckets buckets;                 // of further texts

    // Coded column of a text, kNone if it has none yet.
    std::size_t find(std::string_view text, std::size_t most_texts) const {
        if (const auto found = places.find(text); found != places.end()) return found->second;
        return texts.size() < most_texts ? kNone : buckets[bucket_of(text)];
    }
};

class Coder {
public:
    explicit Coder(std::size_t most_texts = kMostTexts) : most_texts_(most_texts) {}

    std::size_t width() const { return means_.size(); }
    std::size_t most_texts() const { return most_texts_; }
    const std::vector<Column>& columns() const { return columns_; }
    const std::vector<std::size_t>& lags() const { return lags_; }
    const Buckets& shared() const { return shared_; }
    Means& means() { return means_; }
    const Means& means() const { return means_; }
    // Whether all columns were always plain numbers, so that their rows are their code.
    bool is_plain() const;
    std::size_t find(std::size_t column, std::string_view text) const {
        return columns_[column].find(text, most_texts_);
    }

    // What a cell shows for the first time. A text must not come in a column of numbers, nor a
    // number in one of text: the callers refuse it.
    std::size_t open_column();  // its number
    void show_number(std::size_t column);
    void show_gap(std::size_t column);
    std::size_t show_text(std::size_t column, std::string_view text);  // its coded column
    std::size_t show_shared(std::size_t bucket);                       // its coded column
    // Coded columns that only the caller fills; the first of them.
    std::size_t open_lags(std::size_t count);

    // What changes after `mark` is undone by `rollback`, and after `commit` not any more. Between
    // `begin` and `commit` further marks have no effect, so that all is undone together.
    void mark();
    void begin();
    void commit() { marked_ = grouped_ = false; }
    void rollback();
    // Changes whenever something was taken back: who remembers columns must forget them.
    std::size_t version() const { return version_; }

    // The state as a whole; `width` coded columns, each of which belongs to one of the parts.
    void restore(std::vector<Column> columns, std::vector<std::size_t> lags, Buckets shared,
                 std::vector<double> sums, std::vector<double> counts);

private:
    enum class What : unsigned char { column, number, gap, text, bucket, shared, lag };
    struct Change {
        What what;
        std::size_t column, bucket;
    };

    std::size_t open();
    void note(What what, std::size_t column = 0, std::size_t bucket = 0) {
        if (marked_) changes_.push_back({what, column, bucket});
    }
    void undo(const Change& change);

    std::size_t most_texts_;
    std::vector<Column> columns_;
    std::vector<std::size_t> lags_;
    Buckets shared_;  // of features beyond those that have a column of their own
    Means means_;     // of the numbers, by coded column

    bool marked_ = false, grouped_ = false;
    std::vector<Change> changes_;
    Means means_before_;
    std::size_t version_ = 0;
};

}  // namespace dfop
