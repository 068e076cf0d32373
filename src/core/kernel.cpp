#include "kernel.hpp"

#include <cstdlib>
#include <stdexcept>
#include <string>

namespace dfop {

const Kernel* find_kernel(std::string_view name) {
#if defined(__x86_64__)
    if (name == avx2::kernel.name && __builtin_cpu_supports("avx2") &&
        __builtin_cpu_supports("fma"))
        return &avx2::kernel;
#endif
    return name == baseline::kernel.name ? &baseline::kernel : nullptr;
}

namespace {

const Kernel& choose_kernel() {
    const char* named = std::getenv("DFOP_KERNEL");
    if (named == nullptr || *named == '\0') {
        const Kernel* fastest = find_kernel("avx2");
        return fastest ? *fastest : baseline::kernel;
    }
    if (const Kernel* kernel = find_kernel(named)) return *kernel;
    throw std::invalid_argument("DFOP_KERNEL is \"" + std::string(named) +
                                "\": it must be \"baseline\", or \"avx2\" on a processor with "
                                "AVX2 and FMA");
}

}  // namespace

const Kernel& default_kernel() {
    static const Kernel& chosen = choose_kernel();
    return chosen;
}

}  // namespace dfop
