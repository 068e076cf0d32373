// Forgetting recursive least squares in O(d m) memory, with a bound of what is left out.
//
// The information of the rows, R = sum of lam^age x x' over rows x = (1, features), is kept as A'A:
// m dense directions B and, behind them, the last rows as they came. When there are enough of
// those, A'A = sum of s_i v_i v_i' (by the eigenvectors of A A', which is small) becomes
//     B'B = sum over i <= m of (s_i - s_m+1) v_i v_i',      Delta += s_m+1,
// and with Delta forgotten as R is, 0 <= R - A'A <= Delta I holds at any time, up to rounding, and
// Delta <= tr R / (m + 1): frequent directions, with forgetting. With P = (A'A + alpha I)^-1,
//     P x = (x - A'(A A' + alpha)^-1 A x) / alpha,     w += P x e / (1/gain + x'P x),
// of which the triangle of A A' + alpha grows by a row with each row. The weights stay implicit,
// w = s + A'a. alpha is the inverse of the prior variance, which does not fade, plus Delta / 2.
//
// A row of k non-zeros costs O(m k), the non-zeros of the rows that wait, and O((m + waiting)^2);
// bringing n rows into B costs O(m^2 d + (m + n)^3), and n is chosen so that this is least per row.
//
// All columns are divided by one power of two, so Delta is one number for all of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "fields.hpp"
#include "filter.hpp"
#include "sparse_row.hpp"

namespace dfop {

class FrequentDirections {
public:
    FrequentDirections(std::size_t features, std::size_t outputs, std::size_t rank, bool intercept,
                       double prior_variance);

    // As in Sketch.
    void learn(const double* X, std::size_t n, Targets y, PerRow discount, PerRow gain,
               double* yhat);
    void learn(SparseRow row, const double* y, std::ptrdiff_t step, double discount, double gain,
               double* yhat);
    void predict(const double* X, std::size_t n, double* yhat) const;
    void predict(SparseRow row, double* yhat) const;
    void forget(double discount);

    void add_features(std::size_t count);
    void add_outputs(std::size_t count);
    void drop_output(std::size_t k);

    void coefficients(double* coef, double* constant) const;
    std::vector<double> variances() const;
    double error() const;              // Delta
    std::vector<double> root() const;  // A, row by row, with a column for the constant first

    template <class Self, class Visitor>
    static void fields(std::size_t features, std::size_t outputs, std::size_t rank, bool intercept,
                       Self* self, Visitor&& visit);
    void settle();

    std::size_t features() const { return place_.size(); }
    std::size_t outputs() const { return outputs_; }
    std::size_t rank() const { return rank_; }
    bool intercept() const { return intercept_; }
    double prior_variance() const { return prior_variance_; }
    std::size_t memory_bytes() const;

private:
    static constexpr std::int32_t kNowhere = -1;

    // Cells of a row: where each column is below, and its scaled value.
    struct Cells {
        std::vector<std::int32_t> at;
        std::vector<double> x;
    };

    // Columns that have come, the constant first if there is one.
    std::size_t known() const { return intercept_ + columns_.size(); }
    std::size_t waiting() const { return row_starts_.size() - 1; }
    std::size_t size() const { return rank_ + waiting(); }
    double* direction(std::size_t at) { return basis_.data() + at * rank_; }
    const double* direction(std::size_t at) const { return basis_.data() + at * rank_; }
    double ridge() const { return 1.0 / (prior_variance_ * scale_ * scale_); }

    double largest(SparseRow row) const;
    void meet(SparseRow row);
    void cells_of(SparseRow row, Cells& cells) const;
    void along(const Cells& cells, std::vector<double>& v) const;
    void outputs_of(const Cells& cells, const std::vector<double>& v, double* yhat) const;
    bool fade(double discount);
    void step(const double* error, double gain);
    void append_row();
    void refill(double square = 0.0);
    void scale_information(double root);
    void grow_scale(double magnitude);
    void whole_weights(std::vector<double>& weights) const;
    void fold();
    void no_rows_wait();
    bool due() const;
    void compress();

    std::size_t outputs_, rank_;
    bool intercept_;
    double prior_variance_;
    double scale_;           // of all columns
    double faded_ = 1.0;     // A, alpha and Delta are kept over this
    double refilled_ = 1.0;  // what it was when alpha was set
    double alpha_ = 1.0, error_ = 0.0;
    std::vector<std::int32_t> place_;        // of each column: where it is below, or kNowhere
    std::vector<double> columns_;            // in the order in which they came
    std::vector<double> weights_, basis_;    // s and B, column by column
    std::vector<double> along_;              // a, row of A by row of A
    std::vector<double> row_starts_{0.0};    // the rows that wait, by their cells
    std::vector<std::int32_t> row_columns_;  // where below
    std::vector<double> row_values_;
    std::vector<double> gram_;      // A A', the lower triangle, row by row
    std::vector<double> triangle_;  // L L' = A A' + alpha; follows from the others

    // Of the row at hand: its cells, and A x.
    mutable Cells cells_;
    mutable std::vector<double> projected_, spread_;
    mutable Nonzeros dense_;
};

template <class Self, class Visitor>
void FrequentDirections::fields(std::size_t features, std::size_t outputs, std::size_t rank, bool,
                                Self* self, Visitor&& visit) {
    const double most = static_cast<double>(bounded_size(features));
    visit.array({"scale", {}, kSmallest, 0x1p520},
                [=](std::size_t) -> auto& { return self->scale_; });
    visit.array({"remaining", {}, 1e-30, 1.0}, [=](std::size_t) -> auto& { return self->faded_; });
    visit.array({"refilled", {}, 1e-30, 1.0},
                [=](std::size_t) -> auto& { return self->refilled_; });
    visit.array({"alpha", {}, kAbove0, 1e150}, [=](std::size_t) -> auto& { return self->alpha_; });
    visit.array({"error", {}, 0.0, 1e150}, [=](std::size_t) -> auto& { return self->error_; });
    visit.rows({"columns", {kFree}, 0.0, most}, self ? &self->columns_ : nullptr);
    visit.rows({"weights", {kFree, outputs}, -1e220, 1e220}, self ? &self->weights_ : nullptr);
    visit.rows({"basis", {kFree, rank}, -1e75, 1e75}, self ? &self->basis_ : nullptr);
    visit.rows({"row_weights", {kFree, outputs}, -1e220, 1e220}, self ? &self->along_ : nullptr);
    visit.rows({"row_starts", {kFree}, 0.0, kMostRows}, self ? &self->row_starts_ : nullptr);
    visit.rows({"row_columns", {kFree}, 0.0, most}, self ? &self->row_columns_ : nullptr);
    visit.rows({"row_values", {kFree}, -1e75, 1e75}, self ? &self->row_values_ : nullptr);
    visit.rows({"gram", {kFree}, -1e150, 1e150}, self ? &self->gram_ : nullptr);
}

}  // namespace dfop
