// Four doubles at a time, in two dialects with the same order of operations: AVX2 with FMA, and
// plain C++ for every other processor. Included once per instruction set, inside its namespace.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#if defined(__AVX2__) && defined(__FMA__)
#include <immintrin.h>
#endif

namespace dfop::DFOP_ISA {

inline constexpr std::size_t kLanes = 4;

inline double fma(double a, double b, double c) {
#if defined(__FMA__) || defined(__FP_FAST_FMA)
    return __builtin_fma(a, b, c);
#else
    return a * b + c;
#endif
}

#if defined(__AVX2__) && defined(__FMA__)

using Vec = __m256d;

inline Vec load(const double* p) { return _mm256_load_pd(p); }
inline void store(double* p, Vec a) { _mm256_store_pd(p, a); }
inline Vec load_any(const double* p) { return _mm256_loadu_pd(p); }
inline void store_any(double* p, Vec a) { _mm256_storeu_pd(p, a); }
inline Vec zero() { return _mm256_setzero_pd(); }
inline Vec broadcast(double a) { return _mm256_set1_pd(a); }
inline Vec add(Vec a, Vec b) { return _mm256_add_pd(a, b); }
inline Vec mul(Vec a, Vec b) { return _mm256_mul_pd(a, b); }
inline Vec div(Vec a, Vec b) { return _mm256_div_pd(a, b); }
inline Vec min(Vec a, Vec b) { return _mm256_min_pd(a, b); }
inline Vec max(Vec a, Vec b) { return _mm256_max_pd(a, b); }
inline Vec fma(Vec a, Vec b, Vec c) { return _mm256_fmadd_pd(a, b, c); }
inline Vec fnma(Vec a, Vec b, Vec c) { return _mm256_fnmadd_pd(a, b, c); }  // c - a b
inline Vec magnitude(Vec a) { return _mm256_andnot_pd(broadcast(-0.0), a); }
// a, but 0 where `by` is below the bound
inline Vec zero_below(Vec a, Vec by, double bound) {
    return _mm256_and_pd(a, _mm256_cmp_pd(by, broadcast(bound), _CMP_GE_OQ));
}
// 2^k, of whole numbers from -1022 to 1023
inline Vec power_of_two(Vec k) {
    const __m256i biased = _mm256_castpd_si256(add(k, broadcast(0x1.8p52 + 1023.0)));
    return _mm256_castsi256_pd(_mm256_slli_epi64(biased, 52));
}
inline bool all_at_most(Vec a, double bound) {
    return _mm256_movemask_pd(_mm256_cmp_pd(a, broadcast(bound), _CMP_LE_OQ)) == 0xf;
}
// Lanes that are not at most the bound, NaN among them, stay marked in `marks`.
inline Vec mark_above(Vec marks, Vec a, Vec bound) {
    return _mm256_or_pd(marks, _mm256_cmp_pd(a, bound, _CMP_NLE_UQ));
}
// Lanes above a cap, where that cap is one (above `least`), stay marked.
inline Vec mark_capped(Vec marks, Vec a, Vec cap, double least) {
    const Vec above = _mm256_cmp_pd(a, cap, _CMP_GT_OQ);
    return _mm256_or_pd(marks,
                        _mm256_and_pd(above, _mm256_cmp_pd(cap, broadcast(least), _CMP_GT_OQ)));
}
inline bool any_marked(Vec marks) { return _mm256_movemask_pd(marks) != 0; }
inline double last(Vec a) {
    const __m128d high = _mm256_extractf128_pd(a, 1);
    return _mm_cvtsd_f64(_mm_unpackhi_pd(high, high));
}
// (aK, aK, aK, aK)
template <int K>
inline Vec lane(Vec a) {
    return _mm256_permute4x64_pd(a, 0x55 * K);
}
// (carry, a0, a1, a2)
inline Vec shift_in(Vec a, double carry) {
    return _mm256_blend_pd(_mm256_permute4x64_pd(a, 0x90), broadcast(carry), 1);
}
// (a0, a0+a1, (a0+a1)+(0+a2)...): the running sum of the lanes
inline Vec running_sum(Vec a) {
    a = add(a, _mm256_blend_pd(_mm256_permute4x64_pd(a, 0x90), zero(), 1));
    return add(a, _mm256_permute2f128_pd(a, a, 0x08));
}
// (sum a, sum b, sum c, sum d), each (l0+l1)+(l2+l3)
inline Vec sums(Vec a, Vec b, Vec c, Vec d) {
    const Vec ab = _mm256_hadd_pd(a, b), cd = _mm256_hadd_pd(c, d);
    return add(_mm256_permute2f128_pd(ab, cd, 0x20), _mm256_permute2f128_pd(ab, cd, 0x31));
}
inline double sum(Vec a) {
    const Vec pairs = _mm256_hadd_pd(a, a);
    return _mm_cvtsd_f64(
        _mm_add_sd(_mm256_castpd256_pd128(pairs), _mm256_extractf128_pd(pairs, 1)));
}

#else

// GCC's and Clang's portable vectors: two SSE2 or NEON registers.
using Vec = double __attribute__((vector_size(32)));
using VecAnywhere = double __attribute__((vector_size(32), aligned(8)));

inline Vec load(const double* p) { return *reinterpret_cast<const Vec*>(p); }
inline void store(double* p, Vec a) { *reinterpret_cast<Vec*>(p) = a; }
inline Vec load_any(const double* p) { return *reinterpret_cast<const VecAnywhere*>(p); }
inline void store_any(double* p, Vec a) { *reinterpret_cast<VecAnywhere*>(p) = a; }
inline Vec broadcast(double a) { return Vec{a, a, a, a}; }
inline Vec zero() { return broadcast(0.0); }
inline Vec add(Vec a, Vec b) { return a + b; }
inline Vec mul(Vec a, Vec b) { return a * b; }
inline Vec div(Vec a, Vec b) { return a / b; }
inline Vec min(Vec a, Vec b) { return a < b ? a : b; }
inline Vec max(Vec a, Vec b) { return a > b ? a : b; }
inline Vec fma(Vec a, Vec b, Vec c) {
#if defined(__FP_FAST_FMA)
    for (std::size_t i = 0; i < kLanes; ++i) c[i] = __builtin_fma(a[i], b[i], c[i]);
    return c;
#else
    return a * b + c;
#endif
}
inline Vec fnma(Vec a, Vec b, Vec c) { return fma(-a, b, c); }
inline Vec magnitude(Vec a) { return max(a, -a); }
inline Vec zero_below(Vec a, Vec by, double bound) { return by >= broadcast(bound) ? a : zero(); }
inline Vec power_of_two(Vec k) {
    Vec power;
    for (std::size_t i = 0; i < kLanes; ++i) {
        const auto biased = std::bit_cast<std::uint64_t>(k[i] + (0x1.8p52 + 1023.0));
        power[i] = std::bit_cast<double>(biased << 52);
    }
    return power;
}
inline bool all_at_most(Vec a, double bound) {
    return a[0] <= bound && a[1] <= bound && a[2] <= bound && a[3] <= bound;
}
inline Vec mark_above(Vec marks, Vec a, Vec bound) { return a <= bound ? marks : broadcast(1.0); }
inline Vec mark_capped(Vec marks, Vec a, Vec cap, double least) {
    return ((a > cap) & (cap > broadcast(least))) ? broadcast(1.0) : marks;
}
inline bool any_marked(Vec marks) { return !all_at_most(marks, 0.0); }
inline double last(Vec a) { return a[3]; }
template <int K>
inline Vec lane(Vec a) {
    return broadcast(a[K]);
}
inline Vec shift_in(Vec a, double carry) { return Vec{carry, a[0], a[1], a[2]}; }
inline Vec running_sum(Vec a) {
    a += Vec{0.0, a[0], a[1], a[2]};
    return a + Vec{0.0, 0.0, a[0], a[1]};
}
inline double sum(Vec a) { return (a[0] + a[1]) + (a[2] + a[3]); }
inline Vec sums(Vec a, Vec b, Vec c, Vec d) { return Vec{sum(a), sum(b), sum(c), sum(d)}; }

#endif

}  // namespace dfop::DFOP_ISA
