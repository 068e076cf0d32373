// Sums over the directions of a sketch, which are single precision. Four sums side by side: the
// compiler may not reorder additions itself.
#pragma once

#include <cstddef>
#include <vector>

namespace dfop {

template <class A, class B>
double dot(const A* a, const B* b, std::size_t n) {
    double s0 = 0.0, s1 = 0.0, s2 = 0.0, s3 = 0.0;
    std::size_t i = 0;
    for (; i + 4 <= n; i += 4) {
        s0 += static_cast<double>(a[i]) * static_cast<double>(b[i]);
        s1 += static_cast<double>(a[i + 1]) * static_cast<double>(b[i + 1]);
        s2 += static_cast<double>(a[i + 2]) * static_cast<double>(b[i + 2]);
        s3 += static_cast<double>(a[i + 3]) * static_cast<double>(b[i + 3]);
    }
    for (; i < n; ++i) s0 += static_cast<double>(a[i]) * static_cast<double>(b[i]);
    return (s0 + s1) + (s2 + s3);
}

template <class Out, class In>
void add_times(Out* __restrict out, double factor, const In* __restrict in, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i)
        out[i] = static_cast<Out>(out[i] + factor * static_cast<double>(in[i]));
}

// v'S v, where v begins at the given row and column of S.
inline double quadratic(const std::vector<double>& S, std::size_t first, const float* v,
                        std::size_t n) {
    const std::size_t width = first + n;
    double sum = 0.0;
    for (std::size_t i = 0; i < n; ++i)
        sum += static_cast<double>(v[i]) * dot(S.data() + (first + i) * width + first, v, n);
    return sum;
}

}  // namespace dfop
