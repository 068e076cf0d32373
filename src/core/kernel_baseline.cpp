#define DFOP_ISA baseline
#define DFOP_ISA_NAME "baseline"
#include "kernel_impl.hpp"
