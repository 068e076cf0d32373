// Random numbers from a place alone, the same on every run and machine: nothing has to be stored,
// and nothing depends on what was asked before.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>

namespace dfop {

// The mixing step of splitmix64.
inline std::uint64_t mix_bits(std::uint64_t x) {
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

// 64 random bits of the place (a, b).
inline std::uint64_t hash_bits(std::uint64_t a, std::uint64_t b) {
    return mix_bits(mix_bits(a + 0x9e3779b97f4a7c15u) + b);
}

// In (0, 1).
inline double hash_uniform(std::uint64_t a, std::uint64_t b) {
    return (static_cast<double>(hash_bits(a, b) >> 11) + 0.5) * 0x1p-53;
}

// Of mean 0 and variance 1 (Box and Muller); uses the places (2 a, b) and (2 a + 1, b).
inline double hash_gaussian(std::uint64_t a, std::uint64_t b) {
    return std::sqrt(-2.0 * std::log(hash_uniform(2 * a, b))) *
           std::cos(2.0 * std::numbers::pi * hash_uniform(2 * a + 1, b));
}

}  // namespace dfop
