// The same update for few features and one output, with the size known to the compiler: the
// scalars of one row overlap with those of the next instead of waiting for whole vectors.
// Included by kernel_impl.hpp.
#pragma once

#include <array>
#include <cstddef>
#include <utility>

#include "kernel.hpp"
#include "simd.hpp"

namespace dfop::DFOP_ISA {
namespace {

// Above this the vectors win.
constexpr std::size_t kSmall = 4;

// (l0+l1)+(l2+l3) over lanes of every fourth product, as pass_outputs adds up.
template <std::size_t N>
inline double dot_product(const double* w, const double* x) {
    double lane[kLanes] = {};
    for (std::size_t i = 0; i < N; ++i) lane[i % kLanes] = fma(w[i], x[i], lane[i % kLanes]);
    return (lane[0] + lane[1]) + (lane[2] + lane[3]);
}

template <std::size_t N, bool Counted>
std::size_t learn_small(const State& s, const Chunk& c) {
    constexpr std::size_t padded = (N + kTile - 1) / kTile * kTile;
    double u[N][N], D[N], cap[N], w[N], f[N], b[N];  // u[j][i] is u_ij
    for (std::size_t j = 0; j < N; ++j) {
        for (std::size_t i = 0; i < j; ++i) u[j][i] = s.U[tile_offset(i, j)];
        D[j] = s.D[j], cap[j] = s.cap[j], w[j] = s.W[j];
    }
    std::size_t t = 0;
    double alpha = 0.0;
    for (; t < c.rows && alpha <= kLargestAlpha; ++t) {
        const double* x = c.x + t * padded;
        for (std::size_t j = 0; j < N; ++j) {
            f[j] = x[j];
            for (std::size_t i = 0; i < j; ++i) f[j] = fma(u[j][i], x[i], f[j]);
        }
        const double yhat = dot_product<N>(w, x);
        c.yhat[t] = yhat;
        alpha = c.alpha[t];
        double inverse = 1.0 / alpha;
        [[maybe_unused]] bool capped = false;
        for (std::size_t j = 0; j < N; ++j) {
            const double grown = fma(D[j], c.growth[t], c.walk[t]);
            if constexpr (Counted) capped = capped || (grown > cap[j] && cap[j] > kLeastCap);
            const double d = grown < cap[j] ? grown : cap[j];
            const double v = d * f[j], p = -f[j] * inverse;
            const double before = alpha;
            alpha = fma(f[j], v, alpha);
            inverse = 1.0 / alpha;
            const double shrunk = d * (before * inverse);
            D[j] = shrunk > kSmallestD ? shrunk : kSmallestD;
            for (std::size_t i = 0; i < j; ++i) {
                const double uij = u[j][i];
                u[j][i] = fma(b[i], p, uij);
                b[i] = fma(uij, v, b[i]);
            }
            b[j] = v;
        }
        if constexpr (Counted) c.capped[t] = capped;
        const double step = (c.y[static_cast<std::ptrdiff_t>(t) * c.y_row] - yhat) * inverse;
        for (std::size_t i = 0; i < N; ++i) w[i] = fma(b[i], step, w[i]);
    }
    c.alpha[t - 1] = alpha;
    for (std::size_t j = 0; j < N; ++j) {
        for (std::size_t i = 0; i < j; ++i) s.U[tile_offset(i, j)] = u[j][i];
        s.D[j] = D[j], s.W[j] = w[j];
    }
    return t;
}

using Learn = std::size_t (*)(const State&, const Chunk&);

template <bool Counted, std::size_t... N>
constexpr std::array<Learn, sizeof...(N)> small_sizes(std::index_sequence<N...>) {
    return {learn_small<N + 1, Counted>...};
}

template <bool Counted>
constexpr auto kLearnSmall = small_sizes<Counted>(std::make_index_sequence<kSmall>());

}  // namespace
}  // namespace dfop::DFOP_ISA
