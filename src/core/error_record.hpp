// What each expert of a bank was worth: its mean squared error over the whole stream, lately, and
// along the stream in at most 512 pieces of equal length, in memory that does not grow.
//
// A piece holds the mean of its rows. When there are 512, neighbours are averaged and pieces become
// twice as long, so their ends depend on nothing but the number of rows.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "fields.hpp"

namespace dfop {

class ErrorRecord {
public:
    static constexpr std::size_t kPieces = 512;  // even, so that all have a neighbour
    static constexpr double kRecent = 1.0 / 500;

    // At least one expert.
    explicit ErrorRecord(std::size_t experts) : mean_(experts), recent_(experts), open_(experts) {}

    // Squared errors of one row, one per expert. Means, not sums: nothing can overflow.
    void update(const double* squared_errors) {
        rows_ += 1.0;
        open_rows_ += 1.0;
        const double share = std::max(kRecent, 1.0 / rows_);
        for (std::size_t k = 0; k < experts(); ++k) {
            const double v = std::min(squared_errors[k], kLargestSquare);
            mean_[k] += (v - mean_[k]) / rows_;
            recent_[k] += share * (v - recent_[k]);
            open_[k] += (v - open_[k]) / open_rows_;
        }
        if (open_rows_ == length_) close_piece();
    }

    std::size_t experts() const { return mean_.size(); }
    double rows() const { return rows_; }
    double piece_length() const { return length_; }
    std::size_t pieces() const { return history_.size() / experts(); }
    const std::vector<double>& mean() const { return mean_; }
    const std::vector<double>& recent() const { return recent_; }
    // pieces x experts, oldest first; rows after the last whole piece are not in it.
    const std::vector<double>& history() const { return history_; }

    template <class Self, class Visitor>
    static void fields(std::size_t experts, Self* self, Visitor&& visit) {
        visit.array({"rows", {}, 0.0, kMostRows},
                    [=](std::size_t) -> auto& { return self->rows_; });
        visit.array({"open_rows", {}, 0.0, kMostRows},
                    [=](std::size_t) -> auto& { return self->open_rows_; });
        visit.array({"length", {}, 1.0, kMostRows},
                    [=](std::size_t) -> auto& { return self->length_; });
        visit.array({"mean", {experts}, 0.0, kLargestSquare},
                    [=](std::size_t k) -> auto& { return self->mean_[k]; });
        visit.array({"recent", {experts}, 0.0, kLargestSquare},
                    [=](std::size_t k) -> auto& { return self->recent_[k]; });
        visit.array({"open", {experts}, 0.0, kLargestSquare},
                    [=](std::size_t k) -> auto& { return self->open_[k]; });
        visit.rows({"history", {kFree, experts}, 0.0, kLargestSquare},
                   self ? &self->history_ : nullptr);
    }

    void settle() const {
        int exponent;
        hold(std::frexp(length_, &exponent) == 0.5, "length: no power of two");
        hold(open_rows_ == std::floor(open_rows_) && open_rows_ < length_,
             "open_rows: not the rows of a piece");
        hold(pieces() < kPieces, "history: too many pieces");
        hold(rows_ == static_cast<double>(pieces()) * length_ + open_rows_,
             "rows: not as many as the pieces have");
    }

    // In one row of numbers, for many at rest: without the pieces, as if one were not complete yet.
    std::size_t packed_size() const { return 1 + 2 * experts(); }
    void pack(double* to) const {
        *to++ = rows_;
        to = std::copy(mean_.begin(), mean_.end(), to);
        std::copy(recent_.begin(), recent_.end(), to);
    }
    void unpack(const double* from) {
        int exponent;
        rows_ = open_rows_ = *from++;
        std::frexp(rows_, &exponent);
        length_ = std::ldexp(1.0, exponent);
        mean_.assign(from, from + experts());
        open_ = mean_;
        recent_.assign(from + experts(), from + 2 * experts());
        history_.clear();
    }

private:
    void close_piece() {
        history_.insert(history_.end(), open_.begin(), open_.end());
        std::fill(open_.begin(), open_.end(), 0.0);
        open_rows_ = 0.0;
        if (pieces() < kPieces) return;
        const std::size_t K = experts();
        for (std::size_t i = 0; i < kPieces / 2; ++i)
            for (std::size_t k = 0; k < K; ++k)
                history_[i * K + k] =
                    0.5 * history_[2 * i * K + k] + 0.5 * history_[(2 * i + 1) * K + k];
        history_.resize(kPieces / 2 * K);
        length_ *= 2.0;
    }

    double rows_ = 0.0, open_rows_ = 0.0, length_ = 1.0;
    std::vector<double> mean_, recent_, open_, history_;
};

}  // namespace dfop
