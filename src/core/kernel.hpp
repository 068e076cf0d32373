// What a kernel works on. Two kernels with this interface are compiled (baseline, AVX2+FMA) and
// one is chosen when the module is loaded.
//
// P = U D U' with U unit upper triangular. U is packed as the upper triangle of 4 x 4 tiles,
// panel (four columns) by panel, tiles of a panel from the top row down, a tile column by column:
// every access is one aligned vector, and a panel is one contiguous stream. The diagonal tiles
// hold the ones of the diagonal and zeros below it, so no tile is special.
#pragma once

#include <cstddef>
#include <string_view>

namespace dfop {

inline constexpr std::size_t kTile = 4;

// Offset of panel j, in doubles: 16 * (1 + 2 + ... + j).
constexpr std::size_t panel_offset(std::size_t j) { return kTile * kTile * (j * (j + 1) / 2); }

// Where u_ij (i <= j, or in the same tile) stands.
constexpr std::size_t tile_offset(std::size_t i, std::size_t j) {
    return panel_offset(j / kTile) + (i / kTile) * kTile * kTile + (j % kTile) * kTile + i % kTile;
}

// Keeps D positive where it would underflow; far below any D that data can produce.
inline constexpr double kSmallestD = 1e-200;

// Caps below this are of features never seen, which nothing can wind up: they do not count.
inline constexpr double kLeastCap = 1e-199;

// x'Px above this is a state that rounding drives apart (see Filter::learn): the limits on D keep
// it far below, whatever the data.
inline constexpr double kLargestAlpha = 1e75;

struct State {
    std::size_t dimension = 0;  // d
    std::size_t tiles = 0;      // d rounded up, in tiles
    std::size_t outputs = 0;    // m
    double* U = nullptr;        // panel_offset(tiles)
    double* D = nullptr;        // 4 * tiles
    double* cap = nullptr;      // 4 * tiles: how far forgetting may raise D
    double* W = nullptr;        // outputs x (4 * tiles): one row of weights per output
};

// A run of consecutive rows that are learned together; x already scaled and padded.
struct Chunk {
    std::size_t rows = 0;
    const double* x = nullptr;       // rows x (4 * tiles)
    const double* growth = nullptr;  // rows: 1 / lam_t
    const double* walk = nullptr;    // rows: what is added to D as well
    const double* y = nullptr;       // row t, output k at y[t * y_row + k * y_col]
    std::ptrdiff_t y_row = 0, y_col = 0;
    double* yhat = nullptr;    // rows x outputs, written before y is read
    double* alpha = nullptr;   // rows: in, the noise variance; out, plus x'Px
    double* capped = nullptr;  // rows: in, 0; out, 1 where a cap acted; none where no cap can
    double* b = nullptr;       // rows x (4 * tiles), scratch: becomes P x
    double* pv = nullptr;      // 8 * tiles, scratch
};

struct Kernel {
    const char* name;
    // x = row * inverse_scale; whether no magnitude is above 1
    bool (*stage)(const double* row, const double* inverse_scale, std::size_t n, double* x);
    // How many rows were learned: the chunk ends behind a row with alpha above kLargestAlpha.
    std::size_t (*learn)(const State&, const Chunk&);
    // D <- min(D * growth + walk, cap), as learning a row does it; whether a cap acted
    bool (*forget)(double* D, const double* cap, std::size_t n, double growth, double walk);
    // yhat of one row, scaled and padded; W as in State
    void (*predict)(const double* W, std::size_t tiles, std::size_t outputs, const double* x,
                    double* yhat);
    // whether every magnitude is at most the bound; a NaN is not
    bool (*all_within)(const double* values, std::size_t n, double bound);
    // value <- cos(value); the same bits in every kernel, as the next two
    void (*cosines)(double* values, std::size_t n);
    // value <- exp(value), of values up to 700; 0 below -700
    void (*exponentials)(double* values, std::size_t n);
    // out[i] <- out[i] + sum of frequencies[j * count + i] z[j], j by j
    void (*add_products)(const double* frequencies, std::size_t features, std::size_t count,
                         const double* z, double* out);
};

namespace baseline {
extern const Kernel kernel;
}
namespace avx2 {
extern const Kernel kernel;
}

// The kernel of that name, nullptr where this processor has none.
const Kernel* find_kernel(std::string_view name);

// The one that runs where none is named: DFOP_KERNEL if the environment names one, else the fastest
// that this processor has.
const Kernel& default_kernel();

}  // namespace dfop
