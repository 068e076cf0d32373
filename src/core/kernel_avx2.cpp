#define DFOP_ISA avx2
#define DFOP_ISA_NAME "avx2"
#include "kernel_impl.hpp"
