// Adds intervals, calibration, alarms and the experts' record to the module.
#pragma once

#include <nanobind/nanobind.h>

namespace dfop {
void bind_uncertainty(nanobind::module_& m);
}
