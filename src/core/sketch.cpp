#include "sketch.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "sketch_vectors.hpp"

namespace dfop {
namespace {

// As in the filter: where no product can overflow, and from where on a column counts as a new one.
constexpr double kLeastVariance = 1e-40, kLargestVariance = 1e40;
constexpr double kLargestWeight = 1e220, kLargestGain = 1e60, kLeastGain = 1e-60;
constexpr double kLargestStep = 0x1p26, kPriorSlack = 1e3;
constexpr double kLargestDiagonal = 1e200;
// A column has room to grow before its scale must: a power of two, so no digit changes.
constexpr double kRoom = 8.0;
// So many rows must hold a column before it joins the directions.
constexpr float kJoin = 8.0F;
// T and Y are brought to their own scale when forgetting has taken so much; Y is single precision.
constexpr double kMostFaded = 0x1p-60, kLargestProduct = 0x1p20;
// V is drawn anew after so many rows for each direction, and so many non-zeros for each number in
// V: then that takes no longer than the rows did.
constexpr double kRowsPerDirection = 2.0, kNonzerosPerNumber = 0.5;

// A row tells one thing, and T counts it for each of its columns: so much of T is believed.
constexpr double kBelieved = 0.5;

double bounded(double w) { return std::clamp(w, -kLargestWeight, kLargestWeight); }

}  // namespace

Sketch::Sketch(std::size_t features, std::size_t outputs, std::size_t rank, bool intercept,
               double prior_variance, bool relative_prior, double cap)
    : outputs_(outputs), rank_(rank), intercept_(intercept), prior_variance_(prior_variance),
      relative_prior_(relative_prior), cap_(std::min(cap, kLargestVariance)),
      factor_(intercept + rank), along_(outputs * (intercept + rank), 0.0),
      place_(bounded_size(features), kNowhere) {
    staged_.z.resize(dimension());
    staged_.Pz.resize(2 * dimension());
    staged_.h.resize(rank_);
    staged_.error.resize(outputs_);
    if (intercept_)
        factor_.set_variance(0, prior_variance_, std::max(cap_, kPriorSlack * prior_variance_));
}

double Sketch::ridge(std::size_t at) const {
    const double variance = relative_prior_ ? prior_variance_ * kRoom * kRoom /
                                                  static_cast<double>(std::max(features(), rank_))
                                            : prior_variance_ * scale_[at] * scale_[at];
    return std::clamp(1.0 / variance, kLeastVariance, kLargestVariance);
}

double Sketch::aside_information(std::size_t at) const {
    return ridge(at) + kBelieved * faded_ * diagonal_[at];
}

// -- columns ------------------------------------------------------------------------------------

double Sketch::variance_limit(double variance) const {
    return std::max(kRoom * kRoom * cap_, kPriorSlack * variance);
}

std::size_t Sketch::meet(std::int32_t column, double magnitude) {
    const std::size_t at = known();
    place_[static_cast<std::size_t>(column)] = static_cast<std::int32_t>(at);
    columns_.push_back(column);
    scale_.push_back(kRoom * power_of_two_above(magnitude));
    diagonal_.push_back(0.0);
    weights_.resize(weights_.size() + outputs_, 0.0);
    met_.push_back(0.0F);
    direction_.push_back(kNowhere);
    if (alone(at)) {  // a direction of its own
        join(at);
        direction(direction_[at])[at] = 1.0F;
        const double variance = 1.0 / ridge(at);
        factor_.set_variance(intercept_ + at, variance / unseen_, variance_limit(variance));
    }
    return at;
}

void Sketch::join(std::size_t at) {
    direction_[at] = static_cast<std::int32_t>(joined());
    joined_.push_back(static_cast<double>(at));
    basis_.resize(basis_.size() + rank_, 0.0F);
    products_.resize(products_.size() + rank_, 0.0F);
}

// In units g times larger the weight is g times larger.
void Sketch::grow_scale(std::size_t at, double magnitude) {
    const double scale = kRoom * power_of_two_above(magnitude), g = scale / scale_[at];
    const bool anew = g > kLargestStep;
    if (!alone(at) && direction_[at] != kNowhere) leave_directions(at);
    scale_[at] = scale;
    diagonal_[at] = anew ? 0.0 : std::min(diagonal_[at] / (g * g), kLargestDiagonal);
    for (std::size_t c = 0; c < outputs_; ++c)
        weights(at)[c] = anew ? 0.0 : bounded(weights(at)[c] * g);
    if (direction_[at] != kNowhere)
        for (std::size_t k = 0; k < rank_; ++k) {
            float& p = product(direction_[at])[k];
            p = anew ? 0.0F : static_cast<float>(p / g);
        }
    if (alone(at)) grow_alone(at, g, anew);
}

// Until the directions are drawn anew they have no part in the column.
void Sketch::leave_directions(std::size_t at) {
    float* v = direction(direction_[at]);
    std::vector<double> S;
    factor_.information(S);
    for (std::size_t c = 0; c < outputs_; ++c)
        weights(at)[c] += dot(along_.data() + c * dimension() + intercept_, v, rank_);
    diagonal_[at] += quadratic(S, intercept_, v, rank_) / faded_;
    std::fill_n(v, rank_, 0.0F);
}

// Of a column that is a direction of its own.
void Sketch::grow_alone(std::size_t at, double g, bool anew) {
    const std::size_t k = intercept_ + at;
    for (std::size_t c = 0; c < outputs_; ++c) {
        double& a = along_[c * dimension() + k];
        a = anew ? 0.0 : bounded(a * g);
    }
    for (std::size_t i = 0; i < joined(); ++i) {
        float& p = products_[i * rank_ + at];
        p = anew ? 0.0F : static_cast<float>(p / g);
    }
    if (anew)
        factor_.forget_weight(k);
    else
        factor_.scale(k, g);
    const double variance = 1.0 / ridge(at);
    factor_.set_variance(k, anew ? variance : factor_.D_[k], variance_limit(variance));
}

// -- predicting ---------------------------------------------------------------------------------

void Sketch::predict(SparseRow row, double* yhat) const {
    thread_local std::vector<double> z;
    z.assign(dimension(), 0.0);
    if (intercept_) z[0] = 1.0;
    std::fill_n(yhat, outputs_, 0.0);
    for (std::size_t i = 0; i < row.count; ++i) {
        const std::int32_t place = place_[static_cast<std::size_t>(row.columns[i])];
        if (place == kNowhere) continue;
        const auto at = static_cast<std::size_t>(place);
        const double x = row.values[i] / scale_[at];
        if (std::fabs(x) > kLargestStep) continue;
        if (direction_[at] != kNowhere)
            add_times(z.data() + intercept_, x, direction(direction_[at]), rank_);
        for (std::size_t c = 0; c < outputs_; ++c) yhat[c] += weights(at)[c] * x;
    }
    for (std::size_t c = 0; c < outputs_; ++c)
        yhat[c] += dot(along_.data() + c * dimension(), z.data(), dimension());
}

void Sketch::predict(const double* X, std::size_t n, double* yhat) const {
    for (std::size_t t = 0; t < n; ++t)
        predict(dense_.of(X + t * features(), features()), yhat + t * outputs_);
}

// -- learning -----------------------------------------------------------------------------------

// Whether no column is larger than its scale: then a staged row is predicted as `predict` does.
bool Sketch::fits(SparseRow row) const {
    for (std::size_t i = 0; i < row.count; ++i) {
        const std::int32_t place = place_[static_cast<std::size_t>(row.columns[i])];
        if (place == kNowhere) continue;
        const auto at = static_cast<std::size_t>(place);
        if (std::fabs(row.values[i]) > scale_[at]) return false;
        if (direction_[at] == kNowhere) continue;
        __builtin_prefetch(direction(direction_[at]));
        __builtin_prefetch(products_.data() + static_cast<std::size_t>(direction_[at]) * rank_);
    }
    return true;
}

// Finds the columns of a row, scales it and works out z.
void Sketch::stage(SparseRow row) {
    auto& [at, in, x, q, z, Pz, h, error] = staged_;
    at.clear();
    in.clear();
    x.clear();
    std::fill(z.begin(), z.end(), 0.0);
    if (intercept_) z[0] = 1.0;
    for (std::size_t i = 0; i < row.count; ++i) {
        const double value = row.values[i], magnitude = std::fabs(value);
        if (magnitude < kSmallest) continue;
        const std::int32_t found = place_[static_cast<std::size_t>(row.columns[i])];
        const std::size_t place =
            found == kNowhere ? meet(row.columns[i], magnitude) : static_cast<std::size_t>(found);
        if (magnitude > scale_[place]) grow_scale(place, magnitude);
        if (direction_[place] == kNowhere && ++met_[place] >= kJoin && rank_ > 0) join(place);
        at.push_back(place);
        in.push_back(direction_[place]);
        x.push_back(value / scale_[place]);
        if (in.back() != kNowhere)
            add_times(z.data() + intercept_, x.back(), direction(in.back()), rank_);
    }
    q.resize(at.size());
}

// What `predict` says of the staged row.
void Sketch::outputs_of(double* yhat) const {
    std::fill_n(yhat, outputs_, 0.0);
    for (std::size_t i = 0; i < staged_.at.size(); ++i)
        for (std::size_t c = 0; c < outputs_; ++c)
            yhat[c] += weights(staged_.at[i])[c] * staged_.x[i];
    for (std::size_t c = 0; c < outputs_; ++c)
        yhat[c] += dot(along_.data() + c * dimension(), staged_.z.data(), dimension());
}

void Sketch::learn(SparseRow row, const double* y, std::ptrdiff_t between, double discount,
                   double gain, double* yhat) {
    const bool fit = fits(row);
    if (!fit || gain < kLeastGain) predict(row, yhat);
    if (gain < kLeastGain) return;
    forget(discount);
    stage(row);
    if (fit) outputs_of(yhat);
    for (std::size_t c = 0; c < outputs_; ++c)
        staged_.error[c] = y[static_cast<std::ptrdiff_t>(c) * between] - yhat[c];
    step(gain);
    collect(gain);
    if (due()) refresh();
}

// The update of the weights and of the information.
void Sketch::step(double gain) {
    auto& [at, in, x, q, z, Pz, h, error] = staged_;
    const double noise = 1.0 / gain;
    const double along = factor_.learn(z.data(), noise, Pz.data());
    double aside = 0.0;
    std::fill(h.begin(), h.end(), 0.0);
    for (std::size_t i = 0; i < at.size(); ++i) {
        const bool directed = in[i] != kNowhere;
        const float* v = directed ? direction(in[i]) : nullptr;
        const double r = directed ? x[i] - dot(z.data() + intercept_, v, rank_) : x[i];
        q[i] = r / aside_information(at[i]);
        aside += r * q[i];
        double& T = diagonal_[at[i]];
        T = std::min(T + gain * r * r / faded_, kLargestDiagonal);
        if (directed) add_times(h.data(), q[i], v, rank_);
    }
    for (std::size_t k = 0; k < rank_; ++k) Pz[intercept_ + k] -= h[k];
    const double share = 1.0 / (noise + along + aside);
    for (std::size_t k = 0; k < dimension(); ++k) {
        const double g = std::clamp(Pz[k] * share, -kLargestGain, kLargestGain);
        for (std::size_t c = 0; c < outputs_; ++c) {
            double& a = along_[c * dimension() + k];
            a = bounded(a + g * error[c]);
        }
    }
    for (std::size_t i = 0; i < at.size(); ++i) {
        const double g = std::clamp(q[i] * share, -kLargestGain, kLargestGain);
        double* w = weights(at[i]);
        for (std::size_t c = 0; c < outputs_; ++c) w[c] = bounded(w[c] + g * error[c]);
    }
}

// What the next directions are drawn from.
void Sketch::collect(double gain) {
    const double weight = std::min(gain, kLargestProduct) / faded_;
    const double* z = staged_.z.data() + intercept_;
    double directed = 0.0;
    for (std::size_t i = 0; i < staged_.at.size(); ++i) {
        if (staged_.in[i] == kNowhere) continue;
        add_times(product(staged_.in[i]), weight * staged_.x[i], z, rank_);
        ++directed;
    }
    rows_ = std::min(rows_ + 1.0, kMostRows);
    nonzeros_ = std::min(nonzeros_ + directed, kMostRows);
}

void Sketch::learn(const double* X, std::size_t n, Targets y, PerRow discount, PerRow gain,
                   double* yhat) {
    for (std::size_t t = 0; t < n; ++t)
        learn(dense_.of(X + t * features(), features()), y.from(t).values, y.column, discount[t],
              gain[t], yhat + t * outputs_);
}

void Sketch::forget(double discount) {
    if (discount == 1.0) return;
    factor_.forget(discount);
    faded_ *= discount;
    unseen_ = std::max(unseen_ * discount, kLeastVariance);
    if (faded_ >= kMostFaded) return;
    for (double& T : diagonal_) T *= faded_;
    const auto factor = static_cast<float>(faded_);
    for (float& p : products_) p *= factor;
    faded_ = 1.0;
}

// -- what grows and what is shown ---------------------------------------------------------------

void Sketch::add_features(std::size_t count) {
    place_.resize(bounded_size(features() + count), kNowhere);
}

void Sketch::add_outputs(std::size_t count) {
    std::vector<double> weights(known() * (outputs_ + count), 0.0);
    for (std::size_t at = 0; at < known(); ++at)
        std::copy_n(this->weights(at), outputs_, weights.begin() + at * (outputs_ + count));
    weights_ = std::move(weights);
    outputs_ += count;
    along_.resize(outputs_ * dimension(), 0.0);
    staged_.error.resize(outputs_);
}

void Sketch::drop_output(std::size_t k) {
    std::vector<double> weights;
    weights.reserve(known() * (outputs_ - 1));
    for (std::size_t i = 0; i < weights_.size(); ++i)
        if (i % outputs_ != k) weights.push_back(weights_[i]);
    weights_ = std::move(weights);
    const auto row = along_.begin() + static_cast<std::ptrdiff_t>(k * dimension());
    along_.erase(row, row + static_cast<std::ptrdiff_t>(dimension()));
    --outputs_;
    staged_.error.resize(outputs_);
}

void Sketch::coefficients(double* coef, double* constant) const {
    std::fill_n(coef, outputs_ * features(), 0.0);
    for (std::size_t c = 0; c < outputs_; ++c) {
        const double* a = along_.data() + c * dimension();
        constant[c] = intercept_ ? a[0] : 0.0;
        for (std::size_t at = 0; at < known(); ++at) {
            double w = weights(at)[c];
            if (direction_[at] != kNowhere)
                w += dot(a + intercept_, direction(direction_[at]), rank_);
            coef[c * features() + static_cast<std::size_t>(columns_[at])] = w / scale_[at];
        }
    }
}

std::vector<double> Sketch::variances() const {
    std::vector<double> P(intercept_ + features(), prior_variance_);
    std::vector<double> v(dimension());
    if (intercept_) {
        v[0] = 1.0;
        P[0] = factor_.variance(v.data());
        v[0] = 0.0;
    }
    for (std::size_t at = 0; at < known(); ++at) {
        double along = 0.0, rest = 1.0;
        if (direction_[at] != kNowhere) {
            const float* mine = direction(direction_[at]);
            std::copy_n(mine, rank_, v.begin() + intercept_);
            along = factor_.variance(v.data());
            rest = std::max(1.0 - dot(mine, mine, rank_), 0.0);
        }
        const double aside = rest * rest / aside_information(at);
        P[intercept_ + static_cast<std::size_t>(columns_[at])] =
            (along + aside) / (scale_[at] * scale_[at]);
    }
    return P;
}

bool Sketch::due() const {
    const auto m = static_cast<double>(rank_), n = static_cast<double>(joined());
    return rank_ > 0 && n > m && rows_ >= kRowsPerDirection * m &&
           nonzeros_ >= kNonzerosPerNumber * m * n;
}

std::size_t Sketch::memory_bytes() const {
    return sizeof(double) * (columns_.capacity() + scale_.capacity() + diagonal_.capacity() +
                             weights_.capacity() + along_.capacity() + factor_.U_.capacity() +
                             2 * factor_.D_.capacity()) +
           sizeof(double) * joined_.capacity() +
           sizeof(float) * (met_.capacity() + basis_.capacity() + products_.capacity()) +
           sizeof(std::int32_t) * (place_.capacity() + direction_.capacity());
}

void Sketch::settle() {
    const std::size_t n = known(), k = joined();
    hold(n <= features(), "columns: more than there are");
    hold(scale_.size() == n && diagonal_.size() == n && weights_.size() == n * outputs_ &&
             met_.size() == n,
         "columns: not as many as scales and weights");
    hold(basis_.size() == k * rank_ && products_.size() == k * rank_,
         "joined: not as many as directions");
    std::fill(place_.begin(), place_.end(), kNowhere);
    for (std::size_t at = 0; at < n; ++at) {
        const auto column = static_cast<std::size_t>(columns_[at]);
        hold(column < features() && static_cast<double>(column) == columns_[at] &&
                 place_[column] == kNowhere,
             "columns: one is no column, or there twice");
        hold(scale_[at] == power_of_two_above(scale_[at]), "scale: no power of two");
        place_[column] = static_cast<std::int32_t>(at);
    }
    direction_.assign(n, kNowhere);
    for (std::size_t i = 0; i < k; ++i) {
        const auto at = static_cast<std::size_t>(joined_[i]);
        hold(at < n && static_cast<double>(at) == joined_[i] && direction_[at] == kNowhere,
             "joined: one is no column, or there twice");
        direction_[at] = static_cast<std::int32_t>(i);
    }
    if (refreshes_ == 0.0)
        for (std::size_t at = 0; at < std::min(n, rank_); ++at)
            hold(direction_[at] == static_cast<std::int32_t>(at), "joined: not the first columns");
}

}  // namespace dfop
