// A filter as others see it: its weights, its size, and its state in one row of numbers.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "filter.hpp"
#include "range_check.hpp"

namespace dfop {

std::size_t Filter::memory_bytes() const { return numbers_.capacity() * sizeof(double); }

void Filter::coefficients(double* coef, double* constant) const {
    for (std::size_t k = 0; k < outputs_; ++k) {
        const double* w = W() + k * padded();
        constant[k] = intercept_ ? w[0] * inverse_scale()[0] : 0.0;
        for (std::size_t j = 0; j < features_; ++j)
            coef[k * features_ + j] =
                std::clamp(w[j + intercept_] * inverse_scale()[j + intercept_],
                           -std::numeric_limits<double>::max(), std::numeric_limits<double>::max());
    }
}

std::vector<double> Filter::variances() const {
    const std::size_t d = dimension();
    std::vector<double> out(D(), D() + d);
    for (std::size_t j = 0; j < d; ++j)
        for (std::size_t i = 0; i < j; ++i) {
            const double u = U()[tile_offset(i, j)];
            out[i] += u * u * D()[j];
        }
    for (std::size_t j = 0; j < d; ++j)
        out[j] = std::min(out[j] / scale()[j] / scale()[j], std::numeric_limits<double>::max());
    return out;
}

namespace {

// The exponent of a power of two takes a quarter of its place.
constexpr std::size_t kExponents = sizeof(double) / sizeof(std::int16_t);
constexpr int kBias = 1023, kMantissa = 52;

std::int16_t exponent_of(double power) {
    return static_cast<std::int16_t>((std::bit_cast<std::uint64_t>(power) >> kMantissa) - kBias);
}

double power_of(std::int16_t exponent) {
    const int bounded = std::clamp<int>(exponent, -500, 500);
    return std::bit_cast<double>(static_cast<std::uint64_t>(bounded + kBias) << kMantissa);
}

// Up to a tile of numbers: a call for so few would cost more than they do.
inline void copy_tile(const double* from, std::size_t count, double* to) {
    switch (count) {
        case 4: std::memcpy(to, from, 4 * sizeof(double)); return;
        case 3: to[2] = from[2]; [[fallthrough]];
        case 2: std::memcpy(to, from, 2 * sizeof(double)); return;
        default: *to = *from;
    }
}
static_assert(kTile == 4);

}  // namespace

std::size_t Filter::packed_size() const {
    const std::size_t d = dimension();
    return d * (d - (d > 0)) / 2 + (2 + outputs_) * d + (d + kExponents - 1) / kExponents + 3;
}

void Filter::pack(double* to) const {
    const std::size_t d = dimension();
    for (std::size_t j = 1; j < d; ++j)
        for (std::size_t i = 0; i < j; i += kTile) {
            const std::size_t count = std::min(kTile, j - i);
            copy_tile(U() + tile_offset(i, j), count, to);
            to += count;
        }
    to = std::copy_n(D(), d, to);
    to = std::copy_n(limit(), d, to);
    for (std::size_t k = 0; k < outputs_; ++k) to = std::copy_n(W() + k * padded(), d, to);
    for (std::size_t j = 0; j < d; j += kExponents, ++to) {
        std::int16_t exponents[kExponents] = {};
        for (std::size_t i = 0; i < std::min(kExponents, d - j); ++i)
            exponents[i] = exponent_of(scale()[j + i]);
        std::memcpy(to, exponents, sizeof(double));
    }
    to[0] = counters_.faded, to[1] = counters_.unseen_variance, to[2] = limited_rows_;
}

void Filter::unpack(const double* from) {
    const std::size_t d = dimension();
    const auto take = [&](double* to, std::size_t n) {
        std::copy_n(from, n, to);
        from += n;
    };
    for (std::size_t j = 1; j < d; ++j)
        for (std::size_t i = 0; i < j; i += kTile) {
            const std::size_t count = std::min(kTile, j - i);
            copy_tile(from, count, U() + tile_offset(i, j));
            from += count;
        }
    take(D(), d);
    take(limit(), d);
    for (std::size_t k = 0; k < outputs_; ++k) take(W() + k * padded(), d);
    for (std::size_t j = 0; j < d; j += kExponents, ++from) {
        std::int16_t exponents[kExponents];
        std::memcpy(exponents, from, sizeof(double));
        for (std::size_t i = 0; i < std::min(kExponents, d - j); ++i)
            if (const double power = power_of(exponents[i]); power != scale()[j + i])
                set_scale(j + i, power);
    }
    counters_.faded = from[0], counters_.unseen_variance = from[1], limited_rows_ = from[2];
}

void Filter::check() const {
    RangeCheck check;
    fields(features_, outputs_, intercept_, this, check);
}

void Filter::settle() {
    int exponent;
    for (std::size_t j = 0; j < dimension(); ++j) {
        hold(std::frexp(scale()[j], &exponent) == 0.5, "scale: no power of two");
        set_scale(j, scale()[j]);
    }
}

std::size_t first_unusable(const double* values, std::size_t n) {
    constexpr std::size_t kBlock = 4096;
    for (std::size_t start = 0; start < n; start += kBlock) {
        const std::size_t end = std::min(start + kBlock, n);
        if (default_kernel().all_within(values + start, end - start, kLargest)) continue;
        for (std::size_t i = start; i < end; ++i)
            if (!(std::fabs(values[i]) <= kLargest)) return i;
    }
    return n;
}

}  // namespace dfop
