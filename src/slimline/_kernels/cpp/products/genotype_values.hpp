// What the codes of a packed genotype count.
#pragma once

#include <limits>

namespace slimline {

// 00, 01, 10 and 11 are two copies of the first allele, a missing call, one copy and none; a missing call counts `fill` (null:
// NaN, which is how it is found). The mean is subtracted, the rest multiplied with the scale.
template <class T> void set_genotype_values(const double* fill, double mean, double scale, T* value) {
  const double copies[4] = {2.0, fill ? *fill : std::numeric_limits<double>::quiet_NaN(), 1.0, 0.0};
  for (int code = 0; code < 4; code++) value[code] = T((copies[code] - mean) * scale);
}

}  // namespace slimline
