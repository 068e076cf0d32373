// A small covariance P = U D U', U unit upper triangular, of weights that are learned by
// recursive least squares (Bierman's update). Its inverse is the information S of the rows so far.
#pragma once

#include <cstddef>
#include <vector>

namespace dfop {

class UdFactor {
public:
    explicit UdFactor(std::size_t size);

    std::size_t size() const { return D_.size(); }

    // What was learned counts `discount` times as much; no D grows beyond its limit.
    void forget(double discount);
    // Learns a row z whose noise has this variance; leaves P z as it was before in `Pz` and
    // returns z'P z. Both vectors have `size` entries, and `Pz` twice as much room.
    double learn(const double* z, double noise, double* Pz);

    double variance(const double* v) const;  // v'P v
    void set_variance(std::size_t k, double variance, double limit);
    void scale(std::size_t k, double factor);  // weight k is so many times as large from now on
    void forget_weight(std::size_t k);         // it has nothing to do with the others any more

    // S, row-major; and back, with pivots of S that are at least `least[k]`.
    void information(std::vector<double>& S) const;
    void take_information(const std::vector<double>& S, const std::vector<double>& least);

    std::vector<double> U_, D_, limit_;  // U column by column, without its diagonal

private:
    double* column(std::size_t j) { return U_.data() + j * (j - (j > 0)) / 2; }
    const double* column(std::size_t j) const { return U_.data() + j * (j - (j > 0)) / 2; }
};

}  // namespace dfop
