// Forgetting recursive least squares in O(d m) memory: the information of the rows is kept as a
// diagonal and a block of rank m.
//
// V (m x d) has orthonormal rows: m directions along which rows vary most. A row x is cut into
// z = V x and what is left, r = x - V'z. With information S of the z and a diagonal T of the r,
//     P x = V'(S^-1 z - V T^-1 r) + T^-1 r,      w += P x e / (1/gain + x'P x),
//     x'P x = z'S^-1 z + r'T^-1 r,
// of which only the columns that x holds are looked at (r is taken as 0 elsewhere): a row costs
// O(m) per non-zero and O(m^2). The weights are never written out, w = V'a + s. Columns are scaled
// by powers of two, and get their memory when a row first holds them; they join the directions, with
// m numbers of V and of Y each, when kJoin rows have held them, since most columns of text are
// hardly ever met. In P stands half of T, and a ridge that does not fade, the inverse of the prior
// variance: a row tells one thing, but T counts it for each of its columns.
//
// Beside V stands Y = sum of x z' over the rows, with forgetting, which is R V': at times ("refresh")
// V becomes an orthonormal basis of Y, one step of subspace iteration, and what is known is
// written in the new directions; predictions do not change by that. In the beginning the first m columns
// have a direction each, so that a sketch with m >= d is the exact filter with its cap.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "fields.hpp"
#include "filter.hpp"
#include "sparse_row.hpp"
#include "ud_factor.hpp"

namespace dfop {

class Sketch {
public:
    // A relative prior is meant for features scaled to at most 1, and for all of them together.
    Sketch(std::size_t features, std::size_t outputs, std::size_t rank, bool intercept,
           double prior_variance, bool relative_prior, double cap);

    // As in Filter: every row is predicted before its target is read. A dense row is the same, bit
    // for bit, as one of its non-zeros.
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
    std::vector<double> variances() const;  // as Filter's, up to what the diagonal leaves out

    template <class Self, class Visitor>
    static void fields(std::size_t features, std::size_t outputs, std::size_t rank, bool intercept,
                       Self* self, Visitor&& visit);
    void settle();

    std::size_t features() const { return place_.size(); }
    std::size_t outputs() const { return outputs_; }
    std::size_t rank() const { return rank_; }
    bool intercept() const { return intercept_; }
    double prior_variance() const { return prior_variance_; }
    double cap() const { return cap_; }
    std::size_t refreshes() const { return static_cast<std::size_t>(refreshes_); }
    std::size_t memory_bytes() const;

private:
    static constexpr std::int32_t kNowhere = -1;

    std::size_t known() const { return columns_.size(); }
    std::size_t dimension() const { return intercept_ + rank_; }
    // Of the columns that have joined the directions.
    std::size_t joined() const { return joined_.size(); }
    float* direction(std::int32_t i) { return basis_.data() + static_cast<std::size_t>(i) * rank_; }
    const float* direction(std::int32_t i) const {
        return basis_.data() + static_cast<std::size_t>(i) * rank_;
    }
    float* product(std::int32_t i) {
        return products_.data() + static_cast<std::size_t>(i) * rank_;
    }
    std::size_t column_of(std::int32_t i) const {
        return static_cast<std::size_t>(joined_[static_cast<std::size_t>(i)]);
    }
    double* weights(std::size_t at) { return weights_.data() + at * outputs_; }
    const double* weights(std::size_t at) const { return weights_.data() + at * outputs_; }
    double ridge(std::size_t at) const;
    double aside_information(std::size_t at) const;  // of a column, beside the directions
    bool alone(std::size_t at) const { return at < rank_ && refreshes_ == 0.0; }
    double variance_limit(double variance) const;
    std::size_t meet(std::int32_t column, double magnitude);
    void join(std::size_t at);
    void grow_scale(std::size_t at, double magnitude);
    void grow_alone(std::size_t at, double g, bool anew);
    void leave_directions(std::size_t at);
    void stage(SparseRow row);
    bool fits(SparseRow row) const;
    void outputs_of(double* yhat) const;
    void step(double gain);
    void collect(double gain);
    bool due() const;

    // In sketch_basis.cpp.
    void refresh();
    void orthonormalise();
    void point_to_loudest(const std::vector<std::size_t>& explained);
    void redraw();
    std::vector<double> in_new_directions(const std::vector<double>& S,
                                          const std::vector<double>& A) const;
    void rewrite_columns(const std::vector<double>& A, const std::vector<double>& S,
                         const std::vector<double>& now);

    std::size_t outputs_, rank_;
    bool intercept_;
    double prior_variance_;
    bool relative_prior_;
    double cap_;
    UdFactor factor_;            // of the constant, then of z
    std::vector<double> along_;  // a, output by output
    double faded_ = 1.0;         // T and Y are kept over this, so that forgetting is one product
    double unseen_ = 1.0;        // what is left of the prior
    double rows_ = 0.0, nonzeros_ = 0.0;  // since the last refresh
    double refreshes_ = 0.0;
    std::vector<std::int32_t> place_;  // of each column: where it is below, or kNowhere

    // Of each column that a row held, in the order in which they came.
    std::vector<double> columns_, scale_, diagonal_, weights_;
    std::vector<float> met_;               // how many rows held it, until it joins the directions
    std::vector<std::int32_t> direction_;  // where it is below, or kNowhere
    // Of each column that has joined the directions.
    std::vector<double> joined_;           // where it is above
    std::vector<float> basis_, products_;  // V and Y

    // What only lives while a row is learned.
    struct Staged {
        std::vector<std::size_t> at;
        std::vector<std::int32_t> in;  // where among the directions
        std::vector<double> x, q;      // of its columns
        std::vector<double> z, Pz, h, error;
    } staged_;
    mutable Nonzeros dense_;
};

template <class Self, class Visitor>
void Sketch::fields(std::size_t features, std::size_t outputs, std::size_t rank, bool intercept,
                    Self* self, Visitor&& visit) {
    const std::size_t M = bounded_size(rank) + intercept;
    const double most = static_cast<double>(bounded_size(features));
    visit.array({"upper", {M * (M - (M > 0)) / 2}, -1e60, 1e60},
                [=](std::size_t i) -> auto& { return self->factor_.U_[i]; });
    visit.array({"D", {M}, kAbove0, 1e40},
                [=](std::size_t i) -> auto& { return self->factor_.D_[i]; });
    visit.array({"limit", {M}, kAbove0, 1e40},
                [=](std::size_t i) -> auto& { return self->factor_.limit_[i]; });
    visit.array({"direction_weights", {outputs, M}, -1e220, 1e220},
                [=](std::size_t i) -> auto& { return self->along_[i]; });
    visit.array({"remaining", {}, 1e-30, 1.0}, [=](std::size_t) -> auto& { return self->faded_; });
    visit.array({"unseen", {}, kAbove0, 1.0}, [=](std::size_t) -> auto& { return self->unseen_; });
    visit.array({"rows", {}, 0.0, kMostRows}, [=](std::size_t) -> auto& { return self->rows_; });
    visit.array({"nonzeros", {}, 0.0, kMostRows},
                [=](std::size_t) -> auto& { return self->nonzeros_; });
    visit.array({"refreshes", {}, 0.0, kMostRows},
                [=](std::size_t) -> auto& { return self->refreshes_; });
    visit.rows({"columns", {kFree}, 0.0, most}, self ? &self->columns_ : nullptr);
    visit.rows({"scale", {kFree}, kSmallest, 0x1p520}, self ? &self->scale_ : nullptr);
    visit.rows({"diagonal", {kFree}, 0.0, 1e200}, self ? &self->diagonal_ : nullptr);
    visit.rows({"weights", {kFree, outputs}, -1e220, 1e220}, self ? &self->weights_ : nullptr);
    visit.rows({"met", {kFree}, 0.0, 1e6}, self ? &self->met_ : nullptr);
    visit.rows({"joined", {kFree}, 0.0, most}, self ? &self->joined_ : nullptr);
    visit.rows({"basis", {kFree, rank}, -2.0, 2.0}, self ? &self->basis_ : nullptr);
    visit.rows({"products", {kFree, rank}, -3e38, 3e38}, self ? &self->products_ : nullptr);
}

}  // namespace dfop
