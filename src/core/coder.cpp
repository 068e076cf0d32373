#include "coder.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace dfop {
namespace {

std::array<std::uint32_t, 256> crc_table() {
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t i = 0; i < 256; ++i) {
        std::uint32_t c = i;
        for (int k = 0; k < 8; ++k) c = (c & 1u) ? 0xEDB88320u ^ (c >> 1) : c >> 1;
        table[i] = c;
    }
    return table;
}

}  // namespace

std::size_t bucket_of(std::string_view text) {
    static const std::array<std::uint32_t, 256> table = crc_table();
    std::uint32_t c = 0xFFFFFFFFu;
    for (const char byte : text)
        c = table[(c ^ static_cast<unsigned char>(byte)) & 0xFFu] ^ (c >> 8);
    return (c ^ 0xFFFFFFFFu) % kBuckets;
}

bool Buckets::empty() const {
    return std::all_of(places_.begin(), places_.end(), [](std::size_t p) { return p == kNone; });
}

std::vector<std::pair<std::size_t, std::size_t>> Buckets::in_order() const {
    std::vector<std::pair<std::size_t, std::size_t>> out;
    for (std::size_t bucket = 0; bucket < places_.size(); ++bucket)
        if (places_[bucket] != kNone) out.emplace_back(bucket, places_[bucket]);
    std::sort(out.begin(), out.end(),
              [](const auto& a, const auto& b) { return a.second < b.second; });
    return out;
}

bool Coder::is_plain() const {
    return columns_.size() == width() &&
           std::all_of(columns_.begin(), columns_.end(),
                       [](const Column& column) { return column.kind == Kind::number; });
}

std::size_t Coder::open() {
    means_.resize(width() + 1);
    return width() - 1;
}

std::size_t Coder::open_column() {
    const std::size_t column = columns_.size();
    columns_.push_back({width(), Kind::none, kNone, {}, {}, {}});
    open();
    note(What::column);
    return column;
}

void Coder::show_number(std::size_t column) {
    if (columns_[column].kind != Kind::none) return;
    columns_[column].kind = Kind::number;
    note(What::number, column);
}

void Coder::show_gap(std::size_t column) {
    if (columns_[column].gap != kNone) return;
    columns_[column].gap = open();
    note(What::gap, column);
}

std::size_t Coder::show_text(std::size_t column, std::string_view text) {
    Column& c = columns_[column];
    std::size_t place = c.find(text, most_texts_);
    if (place != kNone) return place;
    if (c.texts.size() < most_texts_) {
        place = c.texts.empty() ? c.place : open();
        c.kind = Kind::text;
        c.texts.emplace_back(text);
        c.places.emplace(text, place);
        note(What::text, column);
    } else {
        place = open();
        c.buckets.set(bucket_of(text), place);
        note(What::bucket, column, bucket_of(text));
    }
    return place;
}

std::size_t Coder::show_shared(std::size_t bucket) {
    if (shared_[bucket] == kNone) {
        shared_.set(bucket, open());
        note(What::shared, 0, bucket);
    }
    return shared_[bucket];
}

std::size_t Coder::open_lags(std::size_t count) {
    const std::size_t first = width();
    for (std::size_t i = 0; i < count; ++i) {
        lags_.push_back(open());
        note(What::lag);
    }
    return first;
}

void Coder::mark() {
    if (grouped_) return;
    marked_ = true;
    changes_.clear();
    means_before_ = means_;
}

void Coder::begin() {
    grouped_ = false;
    mark();
    grouped_ = true;
}

void Coder::rollback() {
    if (!marked_) return;
    for (auto change = changes_.rbegin(); change != changes_.rend(); ++change) undo(*change);
    means_ = means_before_;
    commit();
    ++version_;
}

void Coder::undo(const Change& change) {
    Column* column = change.column < columns_.size() ? &columns_[change.column] : nullptr;
    switch (change.what) {
        case What::column: columns_.pop_back(); break;
        case What::number: column->kind = Kind::none; break;
        case What::gap: column->gap = kNone; break;
        case What::text:
            column->places.erase(column->texts.back());
            column->texts.pop_back();
            if (column->texts.empty()) column->kind = Kind::none;
            break;
        case What::bucket: column->buckets.set(change.bucket, kNone); break;
        case What::shared: shared_.set(change.bucket, kNone); break;
        case What::lag: lags_.pop_back(); break;
    }
}

void Coder::restore(std::vector<Column> columns, std::vector<std::size_t> lags, Buckets shared,
                    std::vector<double> sums, std::vector<double> counts) {
    columns_ = std::move(columns);
    lags_ = std::move(lags);
    shared_ = std::move(shared);
    means_.sums() = std::move(sums);
    means_.counts() = std::move(counts);
    commit();
    ++version_;
}

}  // namespace dfop
