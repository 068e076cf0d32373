#include "symmetric_eigen.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "sketch_vectors.hpp"

namespace dfop {
namespace {

constexpr double kRounding = std::numeric_limits<double>::epsilon();
// Two or three rounds find an eigenvalue; the limit only keeps the loop from being endless.
constexpr int kMostRounds = 200;

struct Tridiagonal {
    std::vector<double> diagonal, beside;  // beside[i] stands between i and i + 1
    std::vector<double> Q;                 // row i of Q: the i-th direction in which it is so
};

// A vector v with (I - beta v v') x = (length, 0, ...); x becomes v, and beta is returned.
double reflection(std::vector<double>& x, double& length) {
    double largest = 0.0;
    for (const double value : x) largest = std::max(largest, std::fabs(value));
    length = 0.0;
    if (largest == 0.0) return 0.0;
    for (double& value : x) value /= largest;
    const double norm = std::sqrt(dot(x.data(), x.data(), x.size()));
    const double first = x[0] > 0.0 ? -norm : norm;
    length = first * largest;
    x[0] -= first;
    return 2.0 / dot(x.data(), x.data(), x.size());
}

Tridiagonal tridiagonal(std::vector<double>& G, std::size_t n) {
    Tridiagonal T{std::vector<double>(n), std::vector<double>(n, 0.0),
                  std::vector<double>(n * n, 0.0)};
    for (std::size_t i = 0; i < n; ++i) T.Q[i * n + i] = 1.0;
    for (std::size_t k = 0; k + 1 < n; ++k) {
        const std::size_t from = k + 1, rest = n - from;
        std::vector<double> v(rest), p(rest);
        for (std::size_t i = 0; i < rest; ++i) v[i] = G[(from + i) * n + k];
        const double beta = reflection(v, T.beside[k]);
        if (beta == 0.0) continue;
        for (std::size_t i = 0; i < rest; ++i)
            p[i] = beta * dot(&G[(from + i) * n + from], v.data(), rest);
        add_times(p.data(), -0.5 * beta * dot(p.data(), v.data(), rest), v.data(), rest);
        for (std::size_t i = 0; i < rest; ++i) {
            double* row = &G[(from + i) * n + from];
            add_times(row, -v[i], p.data(), rest);
            add_times(row, -p[i], v.data(), rest);
        }
        std::vector<double> sum(n, 0.0);
        for (std::size_t i = 0; i < rest; ++i) add_times(sum.data(), v[i], &T.Q[(from + i) * n], n);
        for (std::size_t i = 0; i < rest; ++i)
            add_times(&T.Q[(from + i) * n], -beta * v[i], sum.data(), n);
    }
    for (std::size_t i = 0; i < n; ++i) T.diagonal[i] = G[i * n + i];
    return T;
}

// Turns row i + 1 of Q and row i by the angle with this cosine and sine.
void turn(std::vector<double>& Q, std::size_t n, std::size_t i, double c, double s) {
    double *low = &Q[i * n], *high = low + n;
    for (std::size_t k = 0; k < n; ++k) {
        const double was = high[k];
        high[k] = s * low[k] + c * was;
        low[k] = c * low[k] - s * was;
    }
}

// One round of QL on rows first .. last, with a shift towards the eigenvalue at `first`.
void round_of(Tridiagonal& T, std::size_t n, std::size_t first, std::size_t last) {
    auto& [d, e, Q] = T;
    const double half = (d[first + 1] - d[first]) / (2.0 * e[first]);
    const double root = std::copysign(std::hypot(half, 1.0), half);
    double bulge = d[last] - d[first] + e[first] / (half + root);
    double s = 1.0, c = 1.0, shift = 0.0;
    for (std::size_t i = last; i-- > first;) {
        const double f = s * e[i], b = c * e[i];
        const double length = std::hypot(f, bulge);
        e[i + 1] = length;
        if (length == 0.0) {  // it has come apart here already
            d[i + 1] -= shift;
            e[last] = 0.0;
            return;
        }
        s = f / length;
        c = bulge / length;
        const double below = d[i + 1] - shift;
        const double twist = (d[i] - below) * s + 2.0 * c * b;
        shift = s * twist;
        d[i + 1] = below + shift;
        bulge = c * twist - b;
        turn(Q, n, i, c, s);
    }
    d[first] -= shift;
    e[first] = bulge;
    e[last] = 0.0;
}

void make_diagonal(Tridiagonal& T, std::size_t n) {
    for (std::size_t first = 0; first < n; ++first)
        for (int round = 0; round < kMostRounds; ++round) {
            std::size_t last = first;
            while (last + 1 < n &&
                   std::fabs(T.beside[last]) >
                       kRounding * (std::fabs(T.diagonal[last]) + std::fabs(T.diagonal[last + 1])))
                ++last;
            if (last == first) break;
            round_of(T, n, first, last);
        }
}

}  // namespace

Eigen symmetric_eigen(std::vector<double> G, std::size_t n) {
    Tridiagonal T = tridiagonal(G, n);
    make_diagonal(T, n);
    std::vector<std::size_t> order(n);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return T.diagonal[a] > T.diagonal[b]; });
    Eigen found{std::vector<double>(n), std::vector<double>(n * n)};
    for (std::size_t i = 0; i < n; ++i) {
        found.values[i] = T.diagonal[order[i]];
        std::copy_n(&T.Q[order[i] * n], n, &found.vectors[i * n]);
    }
    return found;
}

}  // namespace dfop
