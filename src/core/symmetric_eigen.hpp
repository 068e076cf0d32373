// Eigenvalues and eigenvectors of a small symmetric matrix.
#pragma once

#include <cstddef>
#include <vector>

namespace dfop {

struct Eigen {
    std::vector<double> values;   // descending
    std::vector<double> vectors;  // one after the other, in the same order
};

// Of the n x n matrix G, row-major, whose both triangles are filled. It is made tridiagonal by
// reflections (Householder) and then diagonal by rotations (the QL method with implicit shifts).
Eigen symmetric_eigen(std::vector<double> G, std::size_t n);

}  // namespace dfop
