#define DFOP_ISA baseline
#define DFOP_ISA_NAME "baseline"
#include "kernel_impl.hpp"

namespace dfop {

const Kernel& best_kernel() {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return avx2::kernel;
#endif
    return baseline::kernel;
}

}  // namespace dfop
