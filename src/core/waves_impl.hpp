// Waves, cos(w'z + phase), of a row, and powers of e. Only products and sums that every dialect rounds alike, so
// both kernels give the same bits. Included by kernel_impl.hpp.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>

#include "kernel.hpp"
#include "simd.hpp"

namespace dfop::DFOP_ISA {
namespace {

// The nearest whole number, of magnitudes below 2^51: above 2^52 there is nothing behind the point.
inline Vec nearest(Vec a) {
    const Vec shift = broadcast(0x1.8p52), back = broadcast(-0x1.8p52);
    return add(add(a, shift), back);
}

// With x = (k + 1/2) pi + r and |r| <= pi/2, cos x = sin r for odd k and -sin r for even k; sin by
// its series. The error is below 1e-13 for |x| < 1e6 and grows in proportion beyond.
inline Vec cosine(Vec x) {
    // pi in three parts; the first two have 30 bits, so that their products with k are exact
    constexpr double kPi0 = 0x1.921fb54p+1, kPi1 = 0x1.10b46118p-29, kPi2 = 0x1.313198a2e037p-60;
    constexpr double kInversePi = 0x1.45f306dc9c883p-2;
    constexpr double kSeries[] = {
        1.0 / 355687428096000.0, -1.0 / 1307674368000.0, 1.0 / 6227020800.0, -1.0 / 39916800.0,
        1.0 / 362880.0,          -1.0 / 5040.0,          1.0 / 120.0,        -1.0 / 6.0};
    const Vec k = nearest(add(mul(x, broadcast(kInversePi)), broadcast(-0.5)));
    const Vec turns = add(k, broadcast(0.5));
    Vec r = add(x, mul(turns, broadcast(-kPi0)));
    r = add(r, mul(turns, broadcast(-kPi1)));
    r = add(r, mul(turns, broadcast(-kPi2)));
    const Vec square = mul(r, r);
    Vec sum = broadcast(kSeries[0]);
    for (std::size_t i = 1; i < std::size(kSeries); ++i)
        sum = add(mul(sum, square), broadcast(kSeries[i]));
    const Vec sine = add(r, mul(mul(sum, square), r));
    const Vec odd = add(k, mul(nearest(mul(k, broadcast(0.5))), broadcast(-2.0)));  // -1, 0, 1
    const Vec sign = add(mul(mul(odd, odd), broadcast(2.0)), broadcast(-1.0));
    return min(max(mul(sign, sine), broadcast(-1.0)), broadcast(1.0));
}

// With x = k ln 2 + r and |r| <= ln 2 / 2, exp x = 2^k exp r; exp by its series. The error is below
// 1e-15 of the result.
inline Vec exponential(Vec x) {
    // ln 2 in two parts; the first has 32 bits, so that its products with k are exact
    constexpr double kLn0 = 0x1.62e42feep-1, kLn1 = 0x1.a39ef35793c76p-33;
    constexpr double kInverseLn = 0x1.71547652b82fep0, kLargest = 700.0;
    constexpr double kSeries[] = {1.0 / 6227020800.0, 1.0 / 479001600.0, 1.0 / 39916800.0,
                                  1.0 / 3628800.0,    1.0 / 362880.0,    1.0 / 40320.0,
                                  1.0 / 5040.0,       1.0 / 720.0,       1.0 / 120.0,
                                  1.0 / 24.0,         1.0 / 6.0,         1.0 / 2.0};
    const Vec bounded = min(max(x, broadcast(-kLargest)), broadcast(kLargest));
    const Vec k = nearest(mul(bounded, broadcast(kInverseLn)));
    Vec r = add(bounded, mul(k, broadcast(-kLn0)));
    r = add(r, mul(k, broadcast(-kLn1)));
    Vec sum = broadcast(kSeries[0]);
    for (std::size_t i = 1; i < std::size(kSeries); ++i)
        sum = add(mul(sum, r), broadcast(kSeries[i]));
    const Vec above = add(r, mul(mul(sum, r), r));  // exp r - 1
    return zero_below(mul(add(above, broadcast(1.0)), power_of_two(k)), x, -kLargest);
}

template <class Function>
void to_each(double* values, std::size_t n, Function function) {
    std::size_t i = 0;
    for (; i + kLanes <= n; i += kLanes) store_any(values + i, function(load_any(values + i)));
    if (i == n) return;
    double rest[kLanes] = {};
    std::copy(values + i, values + n, rest);
    store_any(rest, function(load_any(rest)));
    std::copy_n(rest, n - i, values + i);
}

void cosines(double* values, std::size_t n) {
    to_each(values, n, [](Vec x) { return cosine(x); });
}

void exponentials(double* values, std::size_t n) {
    to_each(values, n, [](Vec x) { return exponential(x); });
}

// `Count` vectors of arguments at a time stay in registers while the features pass by.
template <std::size_t Count>
void add_up(const double* frequencies, std::size_t features, std::size_t count, const double* z,
            double* out) {
    Vec sum[Count];
    for (std::size_t v = 0; v < Count; ++v) sum[v] = load_any(out + v * kLanes);
    for (std::size_t j = 0; j < features; ++j, frequencies += count)
        for (std::size_t v = 0; v < Count; ++v)
            sum[v] = add(sum[v], mul(load_any(frequencies + v * kLanes), broadcast(z[j])));
    for (std::size_t v = 0; v < Count; ++v) store_any(out + v * kLanes, sum[v]);
}

void add_products(const double* frequencies, std::size_t features, std::size_t count,
                  const double* z, double* out) {
    constexpr std::size_t kMany = 5;  // five times four waves: a hundred have no rest
    std::size_t i = 0;
    for (; i + kMany * kLanes <= count; i += kMany * kLanes)
        add_up<kMany>(frequencies + i, features, count, z, out + i);
    for (; i + kLanes <= count; i += kLanes)
        add_up<1>(frequencies + i, features, count, z, out + i);
    for (; i < count; ++i)
        for (std::size_t j = 0; j < features; ++j) out[i] += frequencies[j * count + i] * z[j];
}

}  // namespace
}  // namespace dfop::DFOP_ISA
