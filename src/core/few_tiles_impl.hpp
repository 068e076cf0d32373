// The same update for one output and so few tiles that all there is of a row stays in registers: with
// the number of tiles known to the compiler, nothing waits for what was stored a moment ago.
// Included by kernel_impl.hpp; the bits are those of the update for any number of tiles.
#pragma once

#include <array>
#include <cstddef>
#include <utility>

#include "kernel.hpp"
#include "simd.hpp"
#include "small_impl.hpp"  // Learn

namespace dfop::DFOP_ISA {
namespace {

// Above this, registers run out.
constexpr std::size_t kFewTiles = 7;

// What a panel of a row is updated with.
struct Gain {
    Vec p, v;
};

// What a row carries from panel to panel.
struct Carried {
    double alpha, inverse;
    Vec capped;  // marks where a cap acted
};

// Forgetting, and the scalars of one panel of one row: from f to D, p, v and the carried alpha. (From
// one panel to the next only the sum of alpha waits for its predecessor.)
template <bool Counted>
inline Gain scalars(const State& s, std::size_t panel, Vec f, double growth, double walk,
                    Carried& carried) {
    double* D = s.D + kTile * panel;
    const Vec grown = fma(load(D), broadcast(growth), broadcast(walk));
    const Vec cap = load(s.cap + kTile * panel);
    const Vec d = min(grown, cap);
    if constexpr (Counted) carried.capped = mark_capped(carried.capped, grown, cap, kLeastCap);
    const Vec v = mul(d, f);
    const Vec increase = running_sum(mul(f, v));
    const Vec a = add(broadcast(carried.alpha), increase);
    const Vec before = shift_in(a, carried.alpha);
    const Vec inverse = div(broadcast(1.0), a);
    const Vec p = mul(f, shift_in(inverse, carried.inverse));
    store(D, max(mul(d, mul(before, inverse)), broadcast(kSmallestD)));
    carried.alpha += last(increase);
    carried.inverse = last(inverse);
    return {p, v};
}

// Column K of a tile, updated with p and v; also what it adds to b, and to f of the next row.
template <int K, bool Update, bool Ahead>
inline void pass_column(double* tile, const Gain& gain, Vec& b, Vec x, Vec& f) {
    Vec u = load(tile + kTile * K);
    if constexpr (Update) {
        const Vec before = u;
        u = fnma(b, lane<K>(gain.p), u);
        b = fma(before, lane<K>(gain.v), b);
        store(tile + kTile * K, u);
    }
    if constexpr (Ahead) f = fma(u, x, f);
}

template <std::size_t Tiles, bool Update, bool Ahead>
inline void pass_few(double* U, const Gain* gain, Vec* b, const Vec* x, Vec* f) {
#pragma GCC unroll 8
    for (std::size_t j = 0; j < Tiles; ++j) {
        Vec f0 = zero(), f1 = f0, f2 = f0, f3 = f0;
        b[j] = zero();
#pragma GCC unroll 8
        for (std::size_t i = 0; i <= j; ++i) {
            double* tile = U + panel_offset(j) + kTile * kTile * i;
            pass_column<0, Update, Ahead>(tile, gain[j], b[i], x[i], f0);
            pass_column<1, Update, Ahead>(tile, gain[j], b[i], x[i], f1);
            pass_column<2, Update, Ahead>(tile, gain[j], b[i], x[i], f2);
            pass_column<3, Update, Ahead>(tile, gain[j], b[i], x[i], f3);
        }
        if constexpr (Ahead) f[j] = sums(f0, f1, f2, f3);
    }
}

template <std::size_t Tiles>
inline void load_row(const double* from, Vec* to) {
#pragma GCC unroll 8
    for (std::size_t i = 0; i < Tiles; ++i) to[i] = load(from + kTile * i);
}

template <std::size_t Tiles>
inline double dot_row(const Vec* w, const Vec* x) {
    Vec f = zero();
#pragma GCC unroll 8
    for (std::size_t i = 0; i < Tiles; ++i) f = fma(w[i], x[i], f);
    return sum(f);
}

template <std::size_t Tiles, bool Counted>
std::size_t learn_few(const State& s, const Chunk& c) {
    constexpr std::size_t padded = kTile * Tiles;
    Vec x[Tiles], w[Tiles], f[Tiles], b[Tiles];
    Gain gain[Tiles];
    load_row<Tiles>(c.x, x);
    load_row<Tiles>(s.W, w);
    pass_few<Tiles, false, true>(s.U, gain, b, x, f);
    double yhat = dot_row<Tiles>(w, x);
    std::size_t t = 0;
    for (bool more = true; more; ++t) {
        Carried carried{c.alpha[t], 1.0 / c.alpha[t], zero()};
#pragma GCC unroll 8
        for (std::size_t j = 0; j < Tiles; ++j)
            gain[j] = scalars<Counted>(s, j, f[j], c.growth[t], c.walk[t], carried);
        const double alpha = c.alpha[t] = carried.alpha;
        if constexpr (Counted)
            if (any_marked(carried.capped)) c.capped[t] = 1.0;
        more = t + 1 < c.rows && alpha <= kLargestAlpha;
        if (more) {
            load_row<Tiles>(c.x + (t + 1) * padded, x);
            pass_few<Tiles, true, true>(s.U, gain, b, x, f);
        } else {
            pass_few<Tiles, true, false>(s.U, gain, b, x, f);
        }
        c.yhat[t] = yhat;
        const double y = c.y[static_cast<std::ptrdiff_t>(t) * c.y_row];
        const Vec step = broadcast((y - yhat) * (1.0 / alpha));
#pragma GCC unroll 8
        for (std::size_t i = 0; i < Tiles; ++i) w[i] = fma(b[i], step, w[i]);
        if (more) yhat = dot_row<Tiles>(w, x);
    }
#pragma GCC unroll 8
    for (std::size_t i = 0; i < Tiles; ++i) store(s.W + kTile * i, w[i]);
    return t;
}

template <bool Counted, std::size_t... Tiles>
constexpr std::array<Learn, sizeof...(Tiles)> few_sizes(std::index_sequence<Tiles...>) {
    return {learn_few<Tiles + 1, Counted>...};
}

template <bool Counted>
constexpr auto kLearnFew = few_sizes<Counted>(std::make_index_sequence<kFewTiles>());

}  // namespace
}  // namespace dfop::DFOP_ISA
