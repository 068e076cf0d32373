// The update of the factored state by a chunk of rows (Bierman's measurement update with
// forgetting). Included by kernel_baseline.cpp and kernel_avx2.cpp.
//
// One row (x, y) with discount lam and noise variance r:
//     D_j   <- min(D_j / lam + q, cap_j)                   forgetting that cannot wind up; counted
//     f      = U'x,  v = D f
//     alpha_j = alpha_(j-1) + f_j v_j,  alpha_0 = r         so alpha_d = r + x'Px
//     D_j   <- D_j alpha_(j-1) / alpha_j
//     u_ij  <- u_ij - b_i p_j,  p_j = f_j / alpha_(j-1);   b_i <- b_i + u_ij v_j   (i < j)
//     w     <- w + b (y - w'x) / alpha_d                    b is now P x
// The weights of an output are one more column of U without a D, with p = (y - w'x) / alpha_d.
//
// Panel J of row t needs panels 0..J-1 of row t (through b and alpha) and panel J of row t-1
// (through U). So a group of panels small enough for the cache is taken through all rows of the
// chunk before the next group, and while a tile of row t is in registers it is also multiplied
// with row t+1: the triangle moves through the registers once per row. The arithmetic and its
// order do not depend on the grouping or the chunk, so neither do the bits of the result.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <type_traits>

#include "kernel.hpp"
#include "few_tiles_impl.hpp"
#include "simd.hpp"
#include "small_impl.hpp"
#include "waves_impl.hpp"

namespace dfop::DFOP_ISA {
namespace {

// Bytes of U that stay close while a chunk passes: half of a common 512 KiB - 1 MiB second-level
// cache, the other half is for the rows.
constexpr std::size_t kGroupBytes = 256 * 1024;

bool is_group(std::size_t first, std::size_t end) {
    return (panel_offset(end) - panel_offset(first)) * sizeof(double) <= kGroupBytes;
}

// b of row t. Where nobody needs it behind the row, all rows share one, which stays close.
double* b_of(const State& s, const Chunk& c, std::size_t t) {
    const bool shared = s.outputs == 1 && is_group(0, s.tiles);
    return c.b + (shared ? 0 : t * kTile * s.tiles);
}

// Applies row t (p, v, b) to one panel and returns f = U'x of the panel for the next row.
template <bool Update, bool Ahead>
inline Vec pass(double* tile, std::size_t tiles, const double* pv, double* b, const double* x) {
    Vec f0 = zero(), f1 = zero(), f2 = zero(), f3 = zero();
    Vec p0 = zero(), p1 = p0, p2 = p0, p3 = p0, v0 = p0, v1 = p0, v2 = p0, v3 = p0;
    if constexpr (Update) {
        p0 = broadcast(pv[0]), p1 = broadcast(pv[1]), p2 = broadcast(pv[2]), p3 = broadcast(pv[3]);
        v0 = broadcast(pv[4]), v1 = broadcast(pv[5]), v2 = broadcast(pv[6]), v3 = broadcast(pv[7]);
    }
    for (std::size_t i = 0; i < tiles; ++i, tile += kTile * kTile) {
        Vec xi = zero(), bi = zero();
        if constexpr (Ahead) xi = load(x + kTile * i);
        if constexpr (Update)
            if (i + 1 < tiles) bi = load(b + kTile * i);  // b begins at the diagonal
        const auto column = [&](double* at, Vec p, Vec v, Vec& f) {
            Vec u = load(at);
            if constexpr (Update) {
                const Vec before = u;
                u = fnma(bi, p, u);
                bi = fma(before, v, bi);
                store(at, u);
            }
            if constexpr (Ahead) f = fma(u, xi, f);
        };
        column(tile, p0, v0, f0);
        column(tile + 4, p1, v1, f1);
        column(tile + 8, p2, v2, f2);
        column(tile + 12, p3, v3, f3);
        if constexpr (Update) store(b + kTile * i, bi);
    }
    return sums(f0, f1, f2, f3);
}

// The dot products of Width consecutive outputs' weights with x, after adding b * p to the
// weights if Update.
template <std::size_t Width, bool Update, bool Ahead>
inline void pass_outputs(std::conditional_t<Update, double, const double>* W, std::size_t tiles,
                         const double* p, const double* b, const double* x, double* dot) {
    const std::size_t padded = kTile * tiles;
    Vec f[Width], pk[Width];
    for (std::size_t k = 0; k < Width; ++k) {
        f[k] = zero();
        if constexpr (Update) pk[k] = broadcast(p[k]);
    }
    for (std::size_t i = 0; i < padded; i += kTile) {
        for (std::size_t k = 0; k < Width; ++k) {
            Vec w = load(W + k * padded + i);
            if constexpr (Update) {
                w = fma(load(b + i), pk[k], w);
                store(W + k * padded + i, w);
            }
            if constexpr (Ahead) f[k] = fma(w, load(x + i), f[k]);
        }
    }
    if constexpr (Ahead)
        for (std::size_t k = 0; k < Width; ++k) dot[k] = sum(f[k]);
}

// Width outputs, learned row by row; a row needs its b and alpha.
template <std::size_t Width>
class Outputs {
public:
    Outputs(const State& s, const Chunk& c, std::size_t rows, std::size_t first)
        : s_(s), c_(c), rows_(rows), first_(first), W_(s.W + first * kTile * s.tiles) {
        pass_outputs<Width, false, true>(W_, s.tiles, nullptr, nullptr, c.x, dot_);
    }

    void learn(std::size_t t) {
        const std::size_t padded = kTile * s_.tiles;
        const double inverse = 1.0 / c_.alpha[t];
        double p[Width];
        for (std::size_t k = 0; k < Width; ++k) {
            c_.yhat[t * s_.outputs + first_ + k] = dot_[k];
            const double y = c_.y[static_cast<std::ptrdiff_t>(t) * c_.y_row +
                                  static_cast<std::ptrdiff_t>(first_ + k) * c_.y_col];
            p[k] = (y - dot_[k]) * inverse;
        }
        const double* b = b_of(s_, c_, t);
        if (t + 1 < rows_)
            pass_outputs<Width, true, true>(W_, s_.tiles, p, b, c_.x + (t + 1) * padded, dot_);
        else
            pass_outputs<Width, true, false>(W_, s_.tiles, p, b, nullptr, nullptr);
    }

    void learn_all() {
        for (std::size_t t = 0; t < rows_; ++t) learn(t);
    }

private:
    const State& s_;
    const Chunk& c_;
    std::size_t rows_, first_;
    double* W_;
    double dot_[Width];
};

// A group of panels, and the rows that go through it.
template <bool Counted>
class Panels {
public:
    Panels(const State& s, const Chunk& c, std::size_t first, std::size_t end)
        : s_(s), c_(c), first_(first), end_(end) {}

    // Through all rows; behind the last group, an only output follows at once, so that its chain of
    // sums runs beside the next row's. Returns how many rows were learned: several groups must all
    // learn the same rows, so only a group that is all of U can end early.
    std::size_t learn(std::size_t rows) {
        std::optional<Outputs<1>> output;
        if (end_ == s_.tiles && s_.outputs == 1) output.emplace(s_, c_, rows, 0);
        const bool whole = first_ == 0 && end_ == s_.tiles;
        std::size_t t = 0;
        if (rows == 1) {
            learn_row();
        } else {
            for (std::size_t j = first_; j < end_; ++j)
                store(pv(j), pass<false, true>(panel(j), j + 1, nullptr, nullptr, c_.x));
            all_scalars(0);
            for (; t + 1 < rows && !(whole && c_.alpha[t] > kLargestAlpha); ++t) {
                double* b = b_of(s_, c_, t);
                for (std::size_t j = first_; j < end_; ++j)
                    store(pv(j), pass<true, true>(panel(j), j + 1, pv(j), b, x_of(t + 1)));
                if (output) output->learn(t);
                all_scalars(t + 1);
            }
            for (std::size_t j = first_; j < end_; ++j)
                pass<true, false>(panel(j), j + 1, pv(j), b_of(s_, c_, t), nullptr);
        }
        if (output) output->learn(t);
        return t + 1;
    }

private:
    double* panel(std::size_t j) const { return s_.U + panel_offset(j); }
    double* pv(std::size_t j) const { return c_.pv + 2 * kTile * j; }
    const double* x_of(std::size_t t) const { return c_.x + t * kTile * s_.tiles; }

    // An only row: a panel is updated while it is close, and the next one is looked at before, so
    // that nobody waits for the scalars.
    void learn_row() {
        Carried carried{c_.alpha[0], 1.0 / c_.alpha[0], zero()};
        Vec f = pass<false, true>(panel(first_), first_ + 1, nullptr, nullptr, c_.x);
        for (std::size_t j = first_; j < end_; ++j) {
            panel_scalars(j, f, 0, carried);
            if (j + 1 < end_) f = pass<false, true>(panel(j + 1), j + 2, nullptr, nullptr, c_.x);
            pass<true, false>(panel(j), j + 1, pv(j), c_.b, nullptr);
        }
        finish(carried, 0);
    }
    void all_scalars(std::size_t t) {
        Carried carried{c_.alpha[t], 1.0 / c_.alpha[t], zero()};
        for (std::size_t j = first_; j < end_; ++j) panel_scalars(j, load(pv(j)), t, carried);
        finish(carried, t);
    }
    void panel_scalars(std::size_t j, Vec f, std::size_t t, Carried& carried) {
        const Gain gain = scalars<Counted>(s_, j, f, c_.growth[t], c_.walk[t], carried);
        store(pv(j), gain.p);
        store(pv(j) + kTile, gain.v);
    }
    void finish(const Carried& carried, std::size_t t) {
        c_.alpha[t] = carried.alpha;
        if constexpr (Counted)
            if (any_marked(carried.capped)) c_.capped[t] = 1.0;
    }

    const State& s_;
    const Chunk& c_;
    std::size_t first_, end_;
};

template <bool Counted>
std::size_t learn_rows(const State& s, const Chunk& c) {
    if (s.dimension <= kSmall && s.dimension > 0 && s.outputs == 1)
        return kLearnSmall<Counted>[s.dimension - 1](s, c);
    if (s.tiles <= kFewTiles && s.outputs == 1) return kLearnFew<Counted>[s.tiles - 1](s, c);
    std::size_t rows = c.rows;
    for (std::size_t first = 0, end; first < s.tiles; first = end) {
        end = first + 1;
        while (end < s.tiles && is_group(first, end + 1)) ++end;
        rows = Panels<Counted>(s, c, first, end).learn(rows);
    }
    if (s.outputs == 1) return rows;
    std::size_t k = 0;
    for (; k + 4 <= s.outputs; k += 4) Outputs<4>(s, c, rows, k).learn_all();
    for (; k < s.outputs; ++k) Outputs<1>(s, c, rows, k).learn_all();
    return rows;
}

std::size_t learn(const State& s, const Chunk& c) {
    return c.capped ? learn_rows<true>(s, c) : learn_rows<false>(s, c);
}

bool forget(double* D, const double* cap, std::size_t n, double growth, double walk) {
    Vec capped = zero();
    for (std::size_t j = 0; j < n; j += kTile) {
        const Vec grown = fma(load(D + j), broadcast(growth), broadcast(walk));
        capped = mark_capped(capped, grown, load(cap + j), kLeastCap);
        store(D + j, min(grown, load(cap + j)));
    }
    return any_marked(capped);
}

void predict(const double* W, std::size_t tiles, std::size_t outputs, const double* x,
             double* yhat) {
    for (std::size_t k = 0; k < outputs; ++k)
        pass_outputs<1, false, true>(W + k * kTile * tiles, tiles, nullptr, nullptr, x, yhat + k);
}

bool stage(const double* row, const double* inverse_scale, std::size_t n, double* x) {
    Vec largest = zero();
    std::size_t j = 0;
    for (; j + kLanes <= n; j += kLanes) {
        const Vec scaled = mul(load_any(row + j), load_any(inverse_scale + j));
        store_any(x + j, scaled);
        largest = max(largest, magnitude(scaled));
    }
    bool fits = all_at_most(largest, 1.0);
    for (; j < n; ++j) {
        x[j] = row[j] * inverse_scale[j];
        fits &= std::fabs(x[j]) <= 1.0;
    }
    return fits;
}

bool all_within(const double* values, std::size_t n, double bound) {
    Vec marks = zero();
    const Vec limit = broadcast(bound);
    std::size_t i = 0;
    for (; i + kLanes <= n; i += kLanes)
        marks = mark_above(marks, magnitude(load_any(values + i)), limit);
    bool within = !any_marked(marks);
    for (; i < n; ++i) within &= std::fabs(values[i]) <= bound;
    return within;
}

}  // namespace

extern const Kernel kernel;
const Kernel kernel{DFOP_ISA_NAME, stage,   learn,        forget,      predict,
                    all_within,    cosines, exponentials, add_products};

}  // namespace dfop::DFOP_ISA
