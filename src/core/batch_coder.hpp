// The coding of a batch of columns. Its rows are gone through twice: once to open what they show,
// which gives the width of the coded rows, and once to write them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "coder.hpp"
#include "filter.hpp"

namespace dfop {

// A column of text: cell t holds values[codes[t]], nothing where the code is no index or the
// value counts as missing.
struct TextCells {
    const std::int64_t* codes;
    std::vector<std::string> values;
    std::vector<unsigned char> missing;  // by value

    std::size_t code(std::size_t t) const {
        const auto code = static_cast<std::size_t>(codes[t]);  // -1 becomes too large
        return code < values.size() && !missing[code] ? code : kNone;
    }
};

struct BatchCells {
    const double* numbers;  // n x columns.size(), NaN where missing
    std::size_t n;
    std::vector<std::size_t> columns;  // known ones, new ones in order, kNone: never to be known
    std::vector<std::optional<TextCells>> texts;  // by position
    std::vector<std::size_t> since;  // by position: rows before have no such column; none: all do
};

struct Conflict {
    std::size_t row, position;
    bool text;  // the cell is text, in a column of numbers
};

class BatchCoder {
public:
    BatchCoder(Coder& coder, const BatchCells& cells) : coder_(coder), cells_(cells) {}

    // The first cell of another kind than its column, position by position.
    std::optional<Conflict> find_conflict() const;
    // Opens what rows of weight above 0 show. Before it, `fill` codes with what is known.
    void show(PerRow weight);
    // (row, width from this row on), from row 0.
    const std::vector<std::pair<std::size_t, std::size_t>>& widths() const { return widths_; }
    // Writes n x width coded rows. If `learn`, takes the numbers into the running means.
    template <bool learn>
    void fill(double* out, PerRow weight);

private:
    struct Position {
        std::size_t at, column;
        const TextCells* text;
        std::size_t since;                // rows before it have no such column
        std::vector<std::size_t> places;  // coded columns of the values of a text
        std::size_t text_since = 0;       // the row of the first text, if the column had none
        bool opens = true;                // whether there is something left to open
    };

    void find_positions();
    void open_columns(std::size_t t);
    void show_row(std::size_t t);
    void show_number(Position& p, double value);
    void show_text(Position& p, std::size_t t);
    double cell(std::size_t t, std::size_t position) const {
        return cells_.numbers[t * cells_.columns.size() + position];
    }

    Coder& coder_;
    const BatchCells& cells_;
    std::vector<Position> positions_;
    std::vector<std::pair<std::size_t, std::size_t>> widths_;
};

inline std::optional<Conflict> BatchCoder::find_conflict() const {
    for (std::size_t j = 0; j < cells_.columns.size(); ++j) {
        if (cells_.columns[j] >= coder_.columns().size()) continue;
        const Kind kind = coder_.columns()[cells_.columns[j]].kind;
        const auto& text = cells_.texts[j];
        if (kind != (text ? Kind::number : Kind::text)) continue;
        for (std::size_t t = 0; t < cells_.n; ++t)
            if (text ? text->code(t) != kNone : !std::isnan(cell(t, j)))
                return Conflict{t, j, text.has_value()};
    }
    return std::nullopt;
}

inline void BatchCoder::find_positions() {
    positions_.clear();
    for (std::size_t j = 0; j < cells_.columns.size(); ++j) {
        const std::size_t column = cells_.columns[j];
        if (column == kNone) continue;
        const bool open = column < coder_.columns().size();
        const auto& text = cells_.texts[j];
        const std::size_t since = cells_.since.empty() ? 0 : cells_.since[j];
        Position p{j, column, text ? &*text : nullptr, since, {}};
        if (text)
            for (const std::string& value : text->values)
                p.places.push_back(open ? coder_.find(column, value) : kNone);
        if (text && (!open || coder_.columns()[column].kind == Kind::none)) p.text_since = kNone;
        positions_.push_back(std::move(p));
    }
}

// Opens the columns that row t is the first to have, if they are new.
inline void BatchCoder::open_columns(std::size_t t) {
    for (const Position& p : positions_)
        if (p.since <= t && p.column == coder_.columns().size()) coder_.open_column();
}

inline void BatchCoder::show(PerRow weight) {
    find_positions();
    open_columns(0);
    widths_.assign(1, {0, coder_.width()});
    for (std::size_t t = 0; t < cells_.n; ++t) {
        if (!cells_.since.empty()) open_columns(t);
        if (weight[t] > 0.0) show_row(t);
        if (coder_.width() == widths_.back().second) continue;
        if (widths_.back().first < t) widths_.emplace_back(t, 0);
        widths_.back().second = coder_.width();
    }
    for (Position& p : positions_) {
        if (p.since >= cells_.n) continue;
        for (std::size_t k = 0; k < p.places.size(); ++k)  // texts that only rows of weight 0 hold
            if (p.places[k] == kNone) p.places[k] = coder_.find(p.column, p.text->values[k]);
    }
}

inline void BatchCoder::show_row(std::size_t t) {
    for (Position& p : positions_) {
        if (p.since > t) continue;
        if (p.text)
            show_text(p, t);
        else if (p.opens)
            show_number(p, cell(t, p.at));
    }
}

inline void BatchCoder::show_number(Position& p, double value) {
    const bool gap = std::isnan(value);
    const Column& column = coder_.columns()[p.column];
    if (gap)
        coder_.show_gap(p.column);
    else if (column.kind == Kind::none)
        coder_.show_number(p.column);
    else
        return;
    p.opens = column.kind == Kind::none || column.gap == kNone;
}

inline void BatchCoder::show_text(Position& p, std::size_t t) {
    const std::size_t code = p.text->code(t);
    if (code == kNone) {
        coder_.show_gap(p.column);
    } else if (p.places[code] == kNone) {
        p.places[code] = coder_.show_text(p.column, p.text->values[code]);
        if (p.text_since == kNone) p.text_since = t;
    }
}

// A row of weight 0 is coded with what the rows before it have shown: with the coded columns that
// were open then.
template <bool learn>
void BatchCoder::fill(double* out, PerRow weight) {
    if (!learn) find_positions();
    const std::size_t width = coder_.width();
    Means& means = coder_.means();
    std::size_t part = 0;
    for (std::size_t t = 0; t < cells_.n; ++t, out += width) {
        const bool seen = !learn || weight[t] > 0.0;
        while (part + 1 < widths_.size() && widths_[part + 1].first <= t) ++part;
        const std::size_t open = seen ? width : widths_[part].second;
        std::fill_n(out, width, 0.0);
        for (const Position& p : positions_) {
            if (p.since > t) continue;
            const Column& column = coder_.columns()[p.column];
            bool gap = false;
            if (p.text) {
                const std::size_t code = p.text->code(t);
                gap = code == kNone;
                const std::size_t place = gap ? kNone : p.places[code];
                if (place < open && (seen || p.text_since <= t)) out[place] = 1.0;
            } else {
                const double value = cell(t, p.at);
                gap = std::isnan(value);
                if (!gap) {
                    out[column.place] = value;
                    if (learn) means.add(column.place, value, weight[t]);
                }
            }
            if (!gap) continue;
            if (column.kind == Kind::number) out[column.place] = means.mean(column.place);
            if (column.gap < open) out[column.gap] = 1.0;
        }
    }
}

}  // namespace dfop
