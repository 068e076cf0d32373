// Running means of columns, which stand in for values that are missing. Sums run row by row, so
// that they are the same bits however the rows are cut into batches.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "filter.hpp"

namespace dfop {

class Means {
public:
    std::size_t size() const { return sum_.size(); }

    // Columns beyond the old size have had no value yet.
    void resize(std::size_t size) {
        sum_.resize(size, 0.0);
        count_.resize(size, 0.0);
    }

    // A value that counts `weight` times.
    void add(std::size_t j, double value, double weight) {
        sum_[j] += weight * value;
        count_[j] += weight;
    }

    // A value of every column.
    void add_row(const double* values) {
        double *sum = sum_.data(), *count = count_.data();
        for (std::size_t j = 0, d = size(); j < d; ++j) {
            sum[j] += values[j];
            count[j] += 1.0;
        }
    }

    // 0 before any value. Rounding may carry the mean of the largest values beyond them.
    double mean(std::size_t j) const {
        return count_[j] > 0.0 ? std::clamp(sum_[j] / count_[j], -kLargest, kLargest) : 0.0;
    }

    // All columns, of rows without gaps.
    void add_rows(const double* X, std::size_t n, PerRow weight) {
        const std::size_t d = size();
        for (std::size_t t = 0; t < n; t += kRows) {
            const std::size_t rows = std::min(kRows, n - t);
            std::size_t j = 0;
            for (; j + 8 <= d; j += 8) add_block<8>(X, t, rows, j, weight);
            for (; j + 2 <= d; j += 2) add_block<2>(X, t, rows, j, weight);
            for (; j < d; ++j) add_block<1>(X, t, rows, j, weight);
        }
        if (weight.step == 0 &&
            weight.values[0] == 1.0)  // counts of whole numbers are exact in any order
            for (double& count : count_) count += static_cast<double>(n);
        else
            for (std::size_t t = 0; t < n; ++t)
                for (double& count : count_) count += weight[t];
    }

    std::vector<double>& sums() { return sum_; }
    std::vector<double>& counts() { return count_; }

private:
    // Rows that stay in the cache while the columns are added block by block.
    static constexpr std::size_t kRows = 256;

    // Columns j to j + K - 1 of some rows, summed in registers.
    template <std::size_t K>
    void add_block(const double* X, std::size_t t, std::size_t rows, std::size_t j, PerRow weight) {
        const std::size_t d = size();
        double sum[K];
        std::copy_n(sum_.begin() + j, K, sum);
        const double* x = X + t * d + j;
        for (const std::size_t end = t + rows; t < end; ++t, x += d)
            for (std::size_t k = 0; k < K; ++k) sum[k] += weight[t] * x[k];
        std::copy_n(sum, K, sum_.begin() + j);
    }

    std::vector<double> sum_, count_;
};

}  // namespace dfop
