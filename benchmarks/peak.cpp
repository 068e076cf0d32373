// Fused multiply-adds as fast as one core can issue them: 12 independent chains of 4 doubles, more
// than latency times issue width on any AVX2 processor, so that no chain waits for itself.
#include <immintrin.h>

constexpr int kChains = 12;

extern "C" {

long flops_per_iteration() { return kChains * 4 * 2; }

__attribute__((target("avx2,fma"))) double multiply_add(long iterations, double factor,
                                                        double summand) {
    const __m256d a = _mm256_set1_pd(factor), b = _mm256_set1_pd(summand);
    __m256d chain[kChains];
    for (int k = 0; k < kChains; ++k) chain[k] = _mm256_set1_pd(k);
    for (long i = 0; i < iterations; ++i) {
#pragma GCC unroll 12
        for (int k = 0; k < kChains; ++k) chain[k] = _mm256_fmadd_pd(chain[k], a, b);
    }
    for (int k = 1; k < kChains; ++k) chain[0] = _mm256_add_pd(chain[0], chain[k]);
    return chain[0][0] + chain[0][1] + chain[0][2] + chain[0][3];
}

bool has_avx2_and_fma() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }

}  // extern "C"
