// What a filter knows of the sizes of its features, and the limits on D that follow.
#include <algorithm>
#include <cmath>

#include "filter.hpp"

namespace dfop {
namespace {

constexpr double kLeastVariance = 1e-40;
// Weights and entries of U stay where no product of them can overflow.
constexpr double kLargestWeight = 1e220, kLargestU = 1e60;
// The prior may wind up this far, so that it fades as the closed form says while rows come in.
constexpr double kPriorSlack = 1e3;
// Of a feature that was never seen, while something is believed of its weight.
constexpr double kBelievedScale = 0x1p-100;

}  // namespace

double power_of_two_above(double magnitude) {
    int exponent;
    const double fraction = std::frexp(magnitude, &exponent);
    return std::ldexp(1.0, fraction == 0.5 ? exponent - 1 : exponent);
}

void Filter::grow_scales(const double* row) {
    for (std::size_t j = 0; j < features_; ++j) {
        const double magnitude = std::fabs(row[j]);
        if (magnitude > scale()[j + intercept_]) grow_scale(j + intercept_, magnitude);
    }
}

// In units s' = g s the weight of feature j is g times larger: row j of U times g, column j over
// g, D_j times g^2.
void Filter::grow_scale(std::size_t j, double magnitude) {
    const double grown = power_of_two_above(magnitude);
    const bool unseen = scale()[j] == kSmallest, believed = only_believed(j);
    const double factor = grown / scale()[j];
    const bool anew = unseen || (factor > kLargestStep && !believed);
    const double step = anew ? 0.0 : factor;
    if (anew && !unseen) count_limited(1.0);  // what was known of its weight is given up
    for (std::size_t i = 0; i < j; ++i) U()[tile_offset(i, j)] *= anew ? 0.0 : 1.0 / step;
    for (std::size_t i = j + 1; i < padded(); ++i) {
        double& u = U()[tile_offset(j, i)];
        u = std::clamp(u * step, -kLargestU, kLargestU);
    }
    for (std::size_t k = 0; k < outputs_; ++k) {
        double& w = W()[k * padded() + j];
        w = std::clamp(w * step, -kLargestWeight, kLargestWeight);
    }
    set_scale(j, grown);
    // Rows can only lower it.
    const double at_most =
        believed ? kLargestVariance : scaled_variance(counters_.unseen_variance, grown);
    D()[j] = unseen ? at_most : std::min(D()[j] * factor * factor, at_most);
    limit()[j] = limit_by_column(j);
    for (std::size_t i = j + 1; i < dimension(); ++i)
        if (!only_believed(i)) limit()[i] = std::min(limit()[i], limit_of_share(i, share(j, i)));
}

void Filter::renew_feature(std::size_t j, double magnitude) {
    const std::size_t k = j + intercept_;
    for (std::size_t i = 0; i < k; ++i) U()[tile_offset(i, k)] = 0.0;
    for (std::size_t i = k + 1; i < padded(); ++i) U()[tile_offset(k, i)] = 0.0;
    for (std::size_t o = 0; o < outputs_; ++o) W()[o * padded() + k] = 0.0;
    set_scale(k, power_of_two_above(magnitude));
    D()[k] = scaled_variance(prior_variance_, scale()[k]);
    limit()[k] = limit_by_column(k);
}

// The scale of a feature is known with its first value. Until then it is one that nearly any value
// is larger than, and D may grow without limit: so does the variance of a feature never seen.
void Filter::set_prior(const double* prior_U, const double* prior_D, const double* weights) {
    const std::size_t d = dimension();
    for (std::size_t j = intercept_; j < d; ++j)
        if (prior_D[j] > 0.0) set_scale(j, kBelievedScale);
    for (std::size_t j = 0; j < d; ++j) {
        if (!(prior_D[j] > 0.0)) continue;
        D()[j] = prior_D[j] * scale()[j] * scale()[j];
        for (std::size_t i = 0; i < j; ++i) {
            double& u = U()[tile_offset(i, j)];
            u = prior_D[i] > 0.0 ? prior_U[i * d + j] * (scale()[i] / scale()[j]) : 0.0;
        }
        for (std::size_t k = 0; k < outputs_; ++k)
            W()[k * padded() + j] = weights[k * d + j] * scale()[j];
        limit()[j] = j < intercept_ ? limit_by_column(j) : kNoLimit;
    }
}

void Filter::set_scale(std::size_t j, double power) {
    scale()[j] = power;
    inverse_scale()[j] = 1.0 / power;
    inverse_largest()[j] = 1.0 / largest(j);
}

// How uncertain forgetting may make a weight.
double Filter::largest(std::size_t j) const {
    if (scale()[j] == kSmallest) return kUnseen;
    return std::max(cap_, kPriorSlack * scaled_variance(prior_variance_, scale()[j]));
}

double Filter::scaled_variance(double variance, double scale) const {
    const double unit = relative_prior_ ? 1.0 / static_cast<double>(dimension()) : scale * scale;
    return std::clamp(variance * unit, kLeastVariance, kLargestVariance);
}

// D_j adds u_ij^2 D_j to the variance of weight i, so a limit on every D does not limit P: where
// u_ij is large, D_j may grow only as far as feature i allows, to largest_i / u_ij^2. Never below
// what D_j is now: forgetting does not teach.
double Filter::share(std::size_t i, std::size_t j) const {
    const double u = U()[tile_offset(i, j)];
    return u * u * inverse_largest()[i];
}

double Filter::limit_of_share(std::size_t j, double share) const {
    return std::max(1.0 / share, std::min(D()[j], largest(j)));
}

double Filter::limit_by_column(std::size_t j) const {
    double most = inverse_largest()[j];  // u_jj = 1
    const std::size_t diagonal = j - j % kTile;
    const double* tile = U() + tile_offset(0, j);
    for (std::size_t i = 0; i < diagonal; i += kTile, tile += kTile * kTile)
        for (std::size_t k = 0; k < kTile; ++k)
            most = std::max(most, tile[k] * tile[k] * inverse_largest()[i + k]);
    for (std::size_t i = diagonal; i < j; ++i) most = std::max(most, share(i, j));
    return limit_of_share(j, most);
}

void Filter::refresh_limits() {
    const auto bound = [](double* values, std::size_t n, double most) {
        for (std::size_t i = 0; i < n; ++i) values[i] = std::clamp(values[i], -most, most);
    };
    bound(U(), upper_, kLargestU);
    bound(W(), outputs_ * padded(), kLargestWeight);
    for (std::size_t j = 0; j < dimension(); ++j) {
        if (only_believed(j))  // as `unseen_variance`
            D()[j] = std::min(D()[j], kLargestVariance * scale()[j] * scale()[j]);
        else
            limit()[j] = limit_by_column(j);
    }
    counters_.faded = 1.0;
}

}  // namespace dfop
