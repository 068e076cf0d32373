#include "ud_factor.hpp"

#include <algorithm>

namespace dfop {
namespace {

// Variances and entries of U stay where no product of them with a row can overflow.
constexpr double kLeast = 1e-40, kMost = 1e40, kMostU = 1e60;

double bounded(double u) { return std::clamp(u, -kMostU, kMostU); }

}  // namespace

UdFactor::UdFactor(std::size_t size)
    : U_(size * (size - (size > 0)) / 2, 0.0), D_(size, 1.0), limit_(size, 1.0) {}

void UdFactor::forget(double discount) {
    if (discount == 1.0) return;
    for (std::size_t k = 0; k < D_.size(); ++k) D_[k] = std::min(D_[k] / discount, limit_[k]);
}

double UdFactor::learn(const double* z, double noise, double* Pz) {
    const std::size_t n = size();
    double* f = Pz + n;
    for (std::size_t j = 0; j < n; ++j) {
        const double* u = column(j);
        double sum = z[j];
        for (std::size_t i = 0; i < j; ++i) sum += u[i] * z[i];
        f[j] = sum;
    }
    double alpha = noise;
    for (std::size_t j = 0; j < n; ++j) {
        double* u = column(j);
        const double v = D_[j] * f[j];
        Pz[j] = v;
        const double before = alpha, slope = -f[j] / before;
        alpha += v * f[j];
        D_[j] = std::max(D_[j] * (before / alpha), kLeast);
        for (std::size_t i = 0; i < j; ++i) {
            const double old = u[i];
            u[i] = bounded(old + Pz[i] * slope);
            Pz[i] += old * v;
        }
    }
    return alpha - noise;
}

double UdFactor::variance(const double* v) const {
    double sum = 0.0;
    for (std::size_t j = 0; j < size(); ++j) {
        double f = v[j];
        for (std::size_t i = 0; i < j; ++i) f += column(j)[i] * v[i];
        sum += D_[j] * f * f;
    }
    return sum;
}

void UdFactor::set_variance(std::size_t k, double variance, double limit) {
    limit_[k] = std::clamp(limit, kLeast, kMost);
    D_[k] = std::clamp(variance, kLeast, limit_[k]);
}

// Row k of U times the factor, column k over it, D_k times its square.
void UdFactor::scale(std::size_t k, double factor) {
    for (std::size_t i = 0; i < k; ++i) column(k)[i] = bounded(column(k)[i] / factor);
    for (std::size_t j = k + 1; j < size(); ++j) column(j)[k] = bounded(column(j)[k] * factor);
    set_variance(k, D_[k] * factor * factor, limit_[k] * factor * factor);
}

void UdFactor::forget_weight(std::size_t k) {
    std::fill_n(column(k), k, 0.0);
    for (std::size_t j = k + 1; j < size(); ++j) column(j)[k] = 0.0;
}

// S = L D^-1 L' with L = U^-T, unit lower triangular.
void UdFactor::information(std::vector<double>& S) const {
    const std::size_t n = size();
    std::vector<double> L(n * n, 0.0);
    for (std::size_t j = 0; j < n; ++j) {
        L[j * n + j] = 1.0;
        for (std::size_t i = 0; i < j; ++i) {  // U'L = I, row j
            const double u = column(j)[i];
            for (std::size_t k = 0; k <= i; ++k) L[j * n + k] -= u * L[i * n + k];
        }
    }
    S.assign(n * n, 0.0);
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j <= i; ++j) {
            double sum = 0.0;
            for (std::size_t k = 0; k <= j; ++k) sum += L[i * n + k] * L[j * n + k] / D_[k];
            S[i * n + j] = S[j * n + i] = sum;
        }
}

void UdFactor::take_information(const std::vector<double>& S, const std::vector<double>& least) {
    const std::size_t n = size();
    std::vector<double> L(n * n, 0.0), pivot(n);
    for (std::size_t j = 0; j < n; ++j) {
        double rest = S[j * n + j];
        for (std::size_t k = 0; k < j; ++k) rest -= L[j * n + k] * L[j * n + k] * pivot[k];
        pivot[j] = std::max(rest, least[j]);
        L[j * n + j] = 1.0;
        for (std::size_t i = j + 1; i < n; ++i) {
            double sum = S[i * n + j];
            for (std::size_t k = 0; k < j; ++k) sum -= L[i * n + k] * L[j * n + k] * pivot[k];
            L[i * n + j] = sum / pivot[j];
        }
        set_variance(j, 1.0 / pivot[j], 1.0 / least[j]);
    }
    for (std::size_t j = 0; j < n; ++j)  // U = L^-T: L'U = I, column j from below
        for (std::size_t i = j; i-- > 0;) {
            double sum = -L[j * n + i];
            for (std::size_t k = i + 1; k < j; ++k) sum -= L[k * n + i] * column(j)[k];
            column(j)[i] = bounded(sum);
        }
}

}  // namespace dfop
