// How a sketch draws its directions anew.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "sketch.hpp"
#include "sketch_vectors.hpp"

namespace dfop {
namespace {

// A direction of which those before it explain all but this share (of its square) is no new one.
constexpr double kExplained = 1e-8;

using Square = std::vector<double>;  // row-major

// Adds factor * y y', the lower triangle.
void add_outer(Square& G, double factor, const double* y, std::size_t m) {
    for (std::size_t k = 0; k < m; ++k) add_times(G.data() + k * m, factor * y[k], y, k + 1);
}

// G becomes the lower triangle L with L L' = G; returns which directions are explained.
std::vector<std::size_t> cholesky(Square& G, std::size_t m) {
    std::vector<std::size_t> explained;
    for (std::size_t k = 0; k < m; ++k) {
        double* row = G.data() + k * m;
        for (std::size_t i = 0; i < k; ++i) {
            const double* other = G.data() + i * m;
            const double pivot = other[i];
            row[i] = pivot > 0.0 ? (row[i] - dot(row, other, i)) / pivot : 0.0;
        }
        const double all = row[k], rest = all - dot(row, row, k);
        row[k] = rest > kExplained * all ? std::sqrt(rest) : 0.0;
        if (row[k] == 0.0) explained.push_back(k);
    }
    return explained;
}

void symmetric(Square& G, std::size_t m) {
    for (std::size_t k = 0; k < m; ++k)
        for (std::size_t i = 0; i < k; ++i) G[i * m + k] = G[k * m + i];
}

// out = G y
void times(const Square& G, const double* y, double* out, std::size_t m) {
    for (std::size_t k = 0; k < m; ++k) out[k] = dot(G.data() + k * m, y, m);
}

}  // namespace

void Sketch::refresh() {
    orthonormalise();
    orthonormalise();  // Y is in single precision: what is left of that goes the second time
    redraw();
    rows_ = nonzeros_ = 0.0;
    refreshes_ = std::min(refreshes_ + 1.0, kMostRows);
}

// The columns of Y become orthonormal, or 0 where there is no further direction.
void Sketch::orthonormalise() {
    const std::size_t m = rank_;
    const auto n = static_cast<std::int32_t>(joined());
    std::vector<double> y(m);
    Square G(m * m);
    for (int trial = 0; trial < 2; ++trial) {
        std::fill(G.begin(), G.end(), 0.0);
        for (std::int32_t i = 0; i < n; ++i) {
            std::copy_n(product(i), m, y.begin());
            add_outer(G, 1.0, y.data(), m);
        }
        const auto explained = cholesky(G, m);
        if (explained.empty() || trial == 1) break;
        point_to_loudest(explained);
    }
    for (std::int32_t i = 0; i < n; ++i) {
        float* p = product(i);
        for (std::size_t k = 0; k < m; ++k) {
            const double* L = G.data() + k * m;
            y[k] = L[k] > 0.0 ? (static_cast<double>(p[k]) - dot(L, y.data(), k)) / L[k] : 0.0;
        }
        for (std::size_t k = 0; k < m; ++k) p[k] = static_cast<float>(y[k]);
    }
}

// Directions that are none become those of the columns of which most is left aside.
void Sketch::point_to_loudest(const std::vector<std::size_t>& explained) {
    std::vector<std::int32_t> loudest(joined());
    std::iota(loudest.begin(), loudest.end(), 0);
    const std::size_t count = std::min(explained.size(), loudest.size());
    std::partial_sort(loudest.begin(), loudest.begin() + static_cast<std::ptrdiff_t>(count),
                      loudest.end(), [this](std::int32_t a, std::int32_t b) {
                          const double Ta = diagonal_[column_of(a)], Tb = diagonal_[column_of(b)];
                          return Ta != Tb ? Ta > Tb : a < b;
                      });
    for (std::size_t i = 0; i < joined(); ++i)
        for (const std::size_t k : explained) products_[i * rank_ + k] = 0.0F;
    for (std::size_t i = 0; i < count; ++i) product(loudest[i])[explained[i]] = 1.0F;
}

// Writes what is known in the new directions Q, which stand where Y was. With R = V'S V + T:
//     S becomes Q R Q', T the diagonal of (I - Q'Q) R (I - Q'Q), a becomes Q w, Y becomes R Q'.
void Sketch::redraw() {
    const std::size_t m = rank_, M = dimension(), c0 = intercept_;
    Square A(m * m, 0.0), QTQ(m * m, 0.0), S, now(M * M, 0.0);
    std::vector<double> v(m), q(m), least(M, 0.0), along(outputs_ * M, 0.0);
    for (std::int32_t i = 0; i < static_cast<std::int32_t>(joined()); ++i) {
        const std::size_t at = column_of(i);
        std::copy_n(direction(i), m, v.begin());
        std::copy_n(product(i), m, q.begin());
        for (std::size_t k = 0; k < m; ++k) add_times(A.data() + k * m, q[k], v.data(), m);
        add_outer(QTQ, faded_ * diagonal_[at], q.data(), m);
        const double delta = ridge(at);
        for (std::size_t k = 0; k < m; ++k) least[c0 + k] += delta * q[k] * q[k];
        for (std::size_t c = 0; c < outputs_; ++c) {
            double& w = weights(at)[c];  // the whole weight from here on
            w = w + dot(along_.data() + c * M + c0, v.data(), m);
            add_times(along.data() + c * M + c0, w, q.data(), m);
        }
    }
    symmetric(QTQ, m);
    factor_.information(S);
    const Square moved = in_new_directions(S, A);
    for (std::size_t i = 0; i < M; ++i)
        for (std::size_t j = 0; j < M; ++j)
            now[i * M + j] =
                moved[i * M + j] + (i >= c0 && j >= c0 ? QTQ[(i - c0) * m + (j - c0)] : 0.0);
    if (c0) least[0] = 1.0 / factor_.limit_[0];
    for (double& delta : least) delta = std::clamp(delta, 1e-40, 1e40);
    factor_.take_information(now, least);
    for (std::size_t c = 0; c < outputs_ && c0; ++c) along[c * M] = along_[c * M];
    along_ = std::move(along);
    rewrite_columns(A, S, now);
}

// B S B', where B leaves the constant as it is and is A for the directions.
std::vector<double> Sketch::in_new_directions(const std::vector<double>& S,
                                              const std::vector<double>& A) const {
    const std::size_t m = rank_, M = dimension(), c0 = intercept_;
    Square B(M * M, 0.0), BS(M * M, 0.0), out(M * M, 0.0);
    if (c0) B[0] = 1.0;
    for (std::size_t i = 0; i < m; ++i) std::copy_n(&A[i * m], m, &B[(c0 + i) * M + c0]);
    for (std::size_t i = 0; i < M; ++i) times(S, &B[i * M], &BS[i * M], M);  // S is symmetric
    for (std::size_t i = 0; i < M; ++i) times(BS, &B[i * M], &out[i * M], M);
    return out;
}

void Sketch::rewrite_columns(const std::vector<double>& A, const std::vector<double>& S,
                             const std::vector<double>& now) {
    const std::size_t m = rank_, M = dimension(), c0 = intercept_;
    Square before(m * m), after(m * m);
    for (std::size_t k = 0; k < m; ++k) {
        std::copy_n(&S[(c0 + k) * M + c0], m, &before[k * m]);
        std::copy_n(&now[(c0 + k) * M + c0], m, &after[k * m]);
    }
    std::vector<double> v(m), q(m), Sv(m), RQ(m), Sq(m);
    for (std::int32_t i = 0; i < static_cast<std::int32_t>(joined()); ++i) {
        const std::size_t at = column_of(i);
        std::copy_n(direction(i), m, v.begin());
        std::copy_n(product(i), m, q.begin());
        const double T = faded_ * diagonal_[at];
        times(before, v.data(), Sv.data(), m);
        times(A, Sv.data(), RQ.data(), m);
        times(after, q.data(), Sq.data(), m);
        add_times(RQ.data(), T, q.data(), m);
        const double left = dot(v.data(), Sv.data(), m) + T - 2.0 * dot(q.data(), RQ.data(), m) +
                            dot(q.data(), Sq.data(), m);
        diagonal_[at] = std::clamp(left / faded_, 0.0, 1e200);
        std::copy_n(q.begin(), m, direction(i));
        for (std::size_t k = 0; k < m; ++k)
            product(i)[k] = static_cast<float>(std::clamp(Sq[k] / faded_, -1e30, 1e30));
        for (std::size_t c = 0; c < outputs_; ++c)
            weights(at)[c] -= dot(along_.data() + c * M + c0, q.data(), m);
    }
}

}  // namespace dfop
