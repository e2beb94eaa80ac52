// What the codes of a packed genotype count.
#pragma once

#include <limits>

namespace slimline {

// The codes 00, 01, 10 and 11 are two copies of the first allele, a missing call, one copy and none. A missing call counts
// `fill` (none: NaN, which is how it is found); of each `centre` is subtracted, and the rest multiplied with `factor`.
template <class T> void set_genotype_values(const double* fill, double centre, double factor, T* value) {
  const double copies[4] = {2.0, fill ? *fill : std::numeric_limits<double>::quiet_NaN(), 1.0, 0.0};
  for (int code = 0; code < 4; code++) value[code] = T((copies[code] - centre) * factor);
}

}  // namespace slimline
