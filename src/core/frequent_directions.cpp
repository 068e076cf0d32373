#include "frequent_directions.hpp"

#include <algorithm>
#include <cmath>

#include "sketch_vectors.hpp"
#include "symmetric_eigen.hpp"

namespace dfop {
namespace {

constexpr double kLargestWeight = 1e220, kLeastGain = 1e-60, kLargestGain = 0x1p100;
constexpr double kLargestStep = 0x1p26;
// The scale has room before it must grow: a power of two, so no digit changes.
constexpr double kRoom = 8.0;
// A is brought to its own scale when forgetting has taken so much, alpha when half of it is gone.
constexpr double kMostFaded = 0x1p-60, kRefill = 0.5;
// alpha is at least this share of the largest row: below, rounding would be all of P.
constexpr double kLeastShare = 1e-10, kSmallestRidge = 1e-60, kLargestRidge = 1e140;
// (m + n)^3 operations in the small matrix weigh so much more than those in B.
constexpr double kSmallCost = 20.0;

double bounded(double w) { return std::clamp(w, -kLargestWeight, kLargestWeight); }

// Where row i of a packed lower triangle begins.
std::size_t row_of(std::size_t i) { return i * (i + 1) / 2; }

}  // namespace

FrequentDirections::FrequentDirections(std::size_t features, std::size_t outputs, std::size_t rank,
                                       bool intercept, double prior_variance)
    : outputs_(outputs), rank_(rank), intercept_(intercept), prior_variance_(prior_variance),
      place_(bounded_size(features), kNowhere), weights_(intercept * outputs, 0.0),
      basis_(intercept * rank, 0.0), along_(rank * outputs, 0.0),
      gram_(rank * (rank + 1) / 2, 0.0) {
    scale_ = intercept ? kRoom : kSmallest;
    refill();
}

// -- rows ---------------------------------------------------------------------------------------

double FrequentDirections::largest(SparseRow row) const {
    double most = 0.0;
    for (std::size_t i = 0; i < row.count; ++i) most = std::max(most, std::fabs(row.values[i]));
    return most;
}

void FrequentDirections::meet(SparseRow row) {
    for (std::size_t i = 0; i < row.count; ++i) {
        std::int32_t& place = place_[static_cast<std::size_t>(row.columns[i])];
        if (place != kNowhere || std::fabs(row.values[i]) < kSmallest) continue;
        place = static_cast<std::int32_t>(known());
        columns_.push_back(row.columns[i]);
        weights_.resize(weights_.size() + outputs_, 0.0);
        basis_.resize(basis_.size() + rank_, 0.0);
    }
}

// Columns that never came, and values beyond all that the scale can tell, have no part.
void FrequentDirections::cells_of(SparseRow row, Cells& cells) const {
    cells.at.clear();
    cells.x.clear();
    const auto take = [&](std::int32_t at, double x) {
        cells.at.push_back(at);
        cells.x.push_back(x);
    };
    if (intercept_) take(0, 1.0 / scale_);
    for (std::size_t i = 0; i < row.count; ++i) {
        const std::int32_t at = place_[static_cast<std::size_t>(row.columns[i])];
        const double x = row.values[i] / scale_;
        if (at != kNowhere && std::fabs(x) <= kLargestStep) take(at, x);
    }
}

// v = A x
void FrequentDirections::along(const Cells& cells, std::vector<double>& v) const {
    v.assign(size(), 0.0);
    spread_.resize(known(), 0.0);
    for (std::size_t i = 0; i < cells.at.size(); ++i) {
        const auto at = static_cast<std::size_t>(cells.at[i]);
        add_times(v.data(), cells.x[i], direction(at), rank_);
        spread_[at] = cells.x[i];
    }
    for (std::size_t r = 0; r < waiting(); ++r) {
        const auto end = static_cast<std::size_t>(row_starts_[r + 1]);
        double sum = 0.0;
        for (auto i = static_cast<std::size_t>(row_starts_[r]); i < end; ++i)
            sum += row_values_[i] * spread_[static_cast<std::size_t>(row_columns_[i])];
        v[rank_ + r] = sum;
    }
    for (const std::int32_t at : cells.at) spread_[static_cast<std::size_t>(at)] = 0.0;
}

void FrequentDirections::outputs_of(const Cells& cells, const std::vector<double>& v,
                                    double* yhat) const {
    std::fill_n(yhat, outputs_, 0.0);
    for (std::size_t i = 0; i < cells.at.size(); ++i)
        add_times(yhat, cells.x[i],
                  weights_.data() + static_cast<std::size_t>(cells.at[i]) * outputs_, outputs_);
    for (std::size_t i = 0; i < v.size(); ++i)
        add_times(yhat, v[i], along_.data() + i * outputs_, outputs_);
}

void FrequentDirections::predict(SparseRow row, double* yhat) const {
    cells_of(row, cells_);
    along(cells_, projected_);
    outputs_of(cells_, projected_, yhat);
}

void FrequentDirections::predict(const double* X, std::size_t n, double* yhat) const {
    for (std::size_t t = 0; t < n; ++t)
        predict(dense_.of(X + t * features(), features()), yhat + t * outputs_);
}

// -- learning -----------------------------------------------------------------------------------

void FrequentDirections::learn(SparseRow row, const double* y, std::ptrdiff_t between,
                               double discount, double gain, double* yhat) {
    predict(row, yhat);
    if (gain < kLeastGain) return;
    std::vector<double> error(outputs_);
    for (std::size_t c = 0; c < outputs_; ++c)
        error[c] = y[static_cast<std::ptrdiff_t>(c) * between] - yhat[c];
    const bool faded = fade(discount);
    const double magnitude = largest(row);
    const bool grows = magnitude > scale_;
    if (grows) grow_scale(magnitude);
    const std::size_t before = known();
    meet(row);
    if (faded || grows || known() > before) {  // else A x is that of the prediction
        cells_of(row, cells_);
        along(cells_, projected_);
    }
    step(error.data(), std::min(gain, kLargestGain));
    if (due()) compress();
}

void FrequentDirections::learn(const double* X, std::size_t n, Targets y, PerRow discount,
                               PerRow gain, double* yhat) {
    for (std::size_t t = 0; t < n; ++t)
        learn(dense_.of(X + t * features(), features()), y.from(t).values, y.column, discount[t],
              gain[t], yhat + t * outputs_);
}

// The row enters as sqrt(gain) x, over what is left of the rows before.
void FrequentDirections::step(const double* error, double gain) {
    const double root = std::sqrt(gain / faded_);
    double square = 0.0;
    for (const double x : cells_.x) square += (root * x) * (root * x);
    if (faded_ < kRefill * refilled_ || kLeastShare * square > alpha_) refill(square);
    std::vector<double>& v = projected_;
    const std::size_t n = size();
    for (double& value : v) value *= root;
    gram_.insert(gram_.end(), v.begin(), v.end());
    gram_.push_back(square);
    append_row();
    const double* l = &triangle_[row_of(n)];
    std::vector<double> u(l, l + n);
    for (std::size_t i = n; i-- > 0;) {  // L'u = l, row by row from below
        const double* row = &triangle_[row_of(i)];
        u[i] /= row[i];
        add_times(u.data(), -u[i], row, i);
    }
    const double pivot = l[n];
    for (std::size_t c = 0; c < outputs_; ++c) {
        const double t = bounded(root * error[c] / (pivot * pivot));
        for (std::size_t i = 0; i < cells_.at.size(); ++i) {
            double& w = weights_[static_cast<std::size_t>(cells_.at[i]) * outputs_ + c];
            w = bounded(w + root * cells_.x[i] * t);
        }
        for (std::size_t i = 0; i < n; ++i) {
            double& a = along_[i * outputs_ + c];
            a = bounded(a - u[i] * t);
        }
    }
    along_.resize(along_.size() + outputs_, 0.0);
    for (std::size_t i = 0; i < cells_.at.size(); ++i) {
        row_columns_.push_back(cells_.at[i]);
        row_values_.push_back(root * cells_.x[i]);
    }
    row_starts_.push_back(static_cast<double>(row_columns_.size()));
}

// The next row of L, from that of A A'.
void FrequentDirections::append_row() {
    std::size_t n = 0;
    while (row_of(n) < triangle_.size()) ++n;
    const double* c = &gram_[row_of(n)];
    triangle_.resize(row_of(n + 1));
    double* l = &triangle_[row_of(n)];
    for (std::size_t i = 0; i < n; ++i) {
        const double* row = &triangle_[row_of(i)];
        l[i] = (c[i] - dot(row, l, i)) / row[i];
    }
    l[n] = std::sqrt(std::max(c[n] - dot(l, l, n), 0.0) + alpha_);
}

// Sets alpha and works out L anew; a row with this square comes next.
void FrequentDirections::refill(double square) {
    double most = square;
    for (std::size_t i = 0; i < size(); ++i) most = std::max(most, gram_[row_of(i) + i]);
    alpha_ = std::max(ridge() / faded_ + error_ / 2.0, kLeastShare * most);
    alpha_ = std::clamp(alpha_, kSmallestRidge, kLargestRidge);
    refilled_ = faded_;
    triangle_.clear();
    for (std::size_t i = 0; i < size(); ++i) append_row();
}

void FrequentDirections::forget(double discount) { fade(discount); }

// Returns whether A has changed.
bool FrequentDirections::fade(double discount) {
    if (discount == 1.0) return false;
    faded_ = std::max(faded_ * discount, 1e-300);
    if (faded_ >= kMostFaded) return false;
    int exponent = 0;  // faded = half * 4^exponent: roots stay powers of two
    std::frexp(faded_, &exponent);
    exponent = exponent / 2;
    faded_ = std::ldexp(faded_, -2 * exponent);
    scale_information(std::ldexp(1.0, exponent));
    refill();
    return true;
}

// All rows so far are `root` times as large as they were, a power of two; the weights stay.
void FrequentDirections::scale_information(double root) {
    for (double& a : along_) a = bounded(a / root);
    for (double& b : basis_) b *= root;
    for (double& x : row_values_) x *= root;
    for (double& g : gram_) g *= root * root;
    error_ *= root * root;
}

// In units g times larger the weights are g times larger. Where g is so large that nothing of the
// rows so far can be told any more, they are given up; Delta has what was lost.
void FrequentDirections::grow_scale(double magnitude) {
    const double scale = kRoom * power_of_two_above(magnitude), g = scale / scale_;
    scale_information(1.0 / g);
    scale_ = scale;
    const bool anew = g > kLargestStep;
    for (std::vector<double>* some : {&weights_, &along_})
        for (double& w : *some) w = anew ? 0.0 : bounded(w * g);
    if (anew) {
        for (std::size_t i = 0; i < size(); ++i) error_ += gram_[row_of(i) + i];
        std::fill(basis_.begin(), basis_.end(), 0.0);
        std::fill(gram_.begin(), gram_.end(), 0.0);
        no_rows_wait();
    }
    refill();
}

// -- directions ---------------------------------------------------------------------------------

// w = s + A'a
void FrequentDirections::whole_weights(std::vector<double>& weights) const {
    weights = weights_;
    for (std::size_t at = 0; at < known(); ++at)
        for (std::size_t k = 0; k < rank_; ++k)
            add_times(&weights[at * outputs_], direction(at)[k], &along_[k * outputs_], outputs_);
    for (std::size_t r = 0; r < waiting(); ++r) {
        const auto end = static_cast<std::size_t>(row_starts_[r + 1]);
        for (auto i = static_cast<std::size_t>(row_starts_[r]); i < end; ++i)
            add_times(&weights[static_cast<std::size_t>(row_columns_[i]) * outputs_],
                      row_values_[i], &along_[(rank_ + r) * outputs_], outputs_);
    }
    for (double& w : weights) w = bounded(w);
}

void FrequentDirections::fold() {
    std::vector<double> weights;
    whole_weights(weights);
    weights_ = std::move(weights);
    std::fill(along_.begin(), along_.end(), 0.0);
}

void FrequentDirections::no_rows_wait() {
    row_starts_.assign(1, 0.0);
    row_columns_.clear();
    row_values_.clear();
    along_.assign(rank_ * outputs_, 0.0);
    gram_.resize(row_of(rank_));
}

// With n rows, when (m^2 d + c (m + n)^3) / n is least; or when they hold as much as B.
bool FrequentDirections::due() const {
    const auto n = static_cast<double>(waiting()), m = static_cast<double>(rank_);
    const auto d = static_cast<double>(known());
    return (n >= m && kSmallCost * n * n * n >= m * m * d) ||
           static_cast<double>(row_values_.size()) >= std::max(m, 8.0) * std::max(d, 64.0);
}

void FrequentDirections::compress() {
    fold();
    const std::size_t n = size(), m = rank_;
    std::vector<double> G(n * n);
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j <= i; ++j) G[i * n + j] = G[j * n + i] = gram_[row_of(i) + j];
    const Eigen found = symmetric_eigen(std::move(G), n);
    const double least = n > m ? std::max(found.values[m], 0.0) : 0.0;
    std::vector<double> C(n * m);  // the new B is C'A
    std::vector<double> left(m);
    for (std::size_t k = 0; k < m; ++k) {
        left[k] = std::max(found.values[k] - least, 0.0);
        const double share = left[k] > 0.0 ? std::sqrt(left[k] / found.values[k]) : 0.0;
        for (std::size_t i = 0; i < n; ++i) C[i * m + k] = share * found.vectors[k * n + i];
    }
    std::vector<double> b(m);
    for (std::size_t at = 0; at < known(); ++at) {
        double* now = direction(at);
        std::fill(b.begin(), b.end(), 0.0);
        for (std::size_t k = 0; k < m; ++k) add_times(b.data(), now[k], &C[k * m], m);
        std::copy(b.begin(), b.end(), now);
    }
    for (std::size_t r = 0; r < waiting(); ++r) {
        const auto end = static_cast<std::size_t>(row_starts_[r + 1]);
        for (auto i = static_cast<std::size_t>(row_starts_[r]); i < end; ++i)
            add_times(direction(static_cast<std::size_t>(row_columns_[i])), row_values_[i],
                      &C[(m + r) * m], m);
    }
    error_ += least;
    no_rows_wait();
    std::fill(gram_.begin(), gram_.end(), 0.0);
    for (std::size_t k = 0; k < m; ++k) gram_[row_of(k) + k] = left[k];
    refill();
}

// -- what grows and what is shown ---------------------------------------------------------------

void FrequentDirections::add_features(std::size_t count) {
    place_.resize(bounded_size(features() + count), kNowhere);
}

void FrequentDirections::add_outputs(std::size_t count) {
    for (std::vector<double>* some : {&weights_, &along_}) {
        std::vector<double> wider(some->size() / outputs_ * (outputs_ + count), 0.0);
        for (std::size_t i = 0; i < some->size(); ++i)
            wider[i / outputs_ * (outputs_ + count) + i % outputs_] = (*some)[i];
        *some = std::move(wider);
    }
    outputs_ += count;
}

void FrequentDirections::drop_output(std::size_t k) {
    for (std::vector<double>* some : {&weights_, &along_}) {
        std::vector<double> fewer;
        for (std::size_t i = 0; i < some->size(); ++i)
            if (i % outputs_ != k) fewer.push_back((*some)[i]);
        *some = std::move(fewer);
    }
    --outputs_;
}

void FrequentDirections::coefficients(double* coef, double* constant) const {
    std::vector<double> weights;
    whole_weights(weights);
    std::fill_n(coef, outputs_ * features(), 0.0);
    for (std::size_t c = 0; c < outputs_; ++c) {
        constant[c] = intercept_ ? weights[c] / scale_ : 0.0;
        for (std::size_t i = 0; i < columns_.size(); ++i)
            coef[c * features() + static_cast<std::size_t>(columns_[i])] =
                weights[(intercept_ + i) * outputs_ + c] / scale_;
    }
}

// P_jj = (1 - A_j'(A A' + alpha)^-1 A_j) / alpha, with column j of A.
std::vector<double> FrequentDirections::variances() const {
    std::vector<double> P(intercept_ + features(), prior_variance_);
    Cells one{{0}, {1.0}};
    std::vector<double> v;
    for (std::size_t at = 0; at < known(); ++at) {
        one.at[0] = static_cast<std::int32_t>(at);
        along(one, v);
        double rest = 1.0;
        for (std::size_t i = 0; i < v.size(); ++i) {
            const double* row = &triangle_[row_of(i)];
            v[i] = (v[i] - dot(row, v.data(), i)) / row[i];
            rest -= v[i] * v[i];
        }
        const std::size_t j =
            at < intercept_ ? 0 : intercept_ + static_cast<std::size_t>(columns_[at - intercept_]);
        P[j] = std::max(rest, 0.0) / (alpha_ * faded_) / scale_ / scale_;
    }
    return P;
}

double FrequentDirections::error() const { return error_ * faded_ * scale_ * scale_; }

std::vector<double> FrequentDirections::root() const {
    const std::size_t width = intercept_ + features();
    const double factor = std::sqrt(faded_) * scale_;
    std::vector<double> A(size() * width, 0.0);
    const auto column = [&](std::size_t at) {
        return at < intercept_ ? 0
                               : intercept_ + static_cast<std::size_t>(columns_[at - intercept_]);
    };
    for (std::size_t at = 0; at < known(); ++at)
        for (std::size_t k = 0; k < rank_; ++k)
            A[k * width + column(at)] = factor * direction(at)[k];
    for (std::size_t r = 0; r < waiting(); ++r) {
        const auto end = static_cast<std::size_t>(row_starts_[r + 1]);
        for (auto i = static_cast<std::size_t>(row_starts_[r]); i < end; ++i)
            A[(rank_ + r) * width + column(static_cast<std::size_t>(row_columns_[i]))] =
                factor * row_values_[i];
    }
    return A;
}

std::size_t FrequentDirections::memory_bytes() const {
    return sizeof(double) * (columns_.capacity() + weights_.capacity() + basis_.capacity() +
                             along_.capacity() + row_starts_.capacity() + row_values_.capacity() +
                             gram_.capacity() + triangle_.capacity() + spread_.capacity()) +
           sizeof(std::int32_t) * (place_.capacity() + row_columns_.capacity());
}

void FrequentDirections::settle() {
    const std::size_t n = known();
    hold(columns_.size() <= features(), "columns: more than there are");
    hold(weights_.size() == n * outputs_ && basis_.size() == n * rank_,
         "columns: not as many as weights and directions");
    hold(!row_starts_.empty() && row_starts_[0] == 0.0 &&
             row_starts_.back() == static_cast<double>(row_values_.size()) &&
             row_columns_.size() == row_values_.size(),
         "row_starts: not those of the rows");
    for (std::size_t r = 0; r < waiting(); ++r)
        hold(row_starts_[r] == std::floor(row_starts_[r]) && row_starts_[r] <= row_starts_[r + 1],
             "row_starts: a row that ends before it begins");
    for (const std::int32_t at : row_columns_)
        hold(static_cast<std::size_t>(at) < n, "row_columns: one is no column");
    hold(gram_.size() == row_of(size()) && along_.size() == size() * outputs_,
         "gram: not as large as there are rows");
    hold(scale_ == power_of_two_above(scale_), "scale: no power of two");
    std::fill(place_.begin(), place_.end(), kNowhere);
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        const auto column = static_cast<std::size_t>(columns_[i]);
        hold(column < features() && static_cast<double>(column) == columns_[i] &&
                 place_[column] == kNowhere,
             "columns: one is no column, or there twice");
        place_[column] = static_cast<std::int32_t>(intercept_ + i);
    }
    triangle_.clear();
    for (std::size_t i = 0; i < size(); ++i) append_row();
}

}  // namespace dfop
