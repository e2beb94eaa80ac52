// Descent by pairs on simplices: minimise over a >= 0, with the sum of each group of coordinates as it is,
//
//   1/2 a^T Q a - c^T a
//
// Q is written out. A step moves weight from one coordinate of a group to another.
#pragma once

#include <cstddef>
#include <cstdint>

namespace slimline {

// Coordinates that are looked at together, and the arrays padded to whole blocks of them.
constexpr size_t simplex_block = 32;
constexpr size_t simplex_padded(size_t count) { return (count + simplex_block - 1) / simplex_block * simplex_block; }
// Numbers of scratch: gradient, diagonal, two barriers and two ends of blocks a group.
constexpr size_t simplex_scratch(size_t count, size_t groups) {
  const size_t padded = simplex_padded(count);
  return 2 * padded + groups * (2 * padded + 2 * (padded / simplex_block));
}

struct SimplexProblem {
  const double* q;
  ptrdiff_t stride;
  size_t count, groups;
  const uint8_t* group;
  double* a;
  double* gradient;  // Q a - c, moved along
};

struct SimplexEffort {
  uint64_t steps;      // at most
  double tolerance;    // of the violation
  void (*look_up)();   // called now and then; throws where the user wants an end
};

struct SimplexDescent {
  uint64_t steps;
  double violation;  // largest gradient of a coordinate above 0 less the smallest of all, over the groups
};

}  // namespace slimline
