// Elements as double, outside of the vector kernels.
#pragma once

#include <cstdint>
#include <cstring>

namespace slimline {

struct Half { uint16_t bits; };

inline double as_double(Half h) {
  // The exponent is re-based by a multiplication, which also gets subnormal values right.
  uint32_t u = uint32_t(h.bits & 0x7FFFu) << 13;
  float x; std::memcpy(&x, &u, 4);
  x *= 5.192296858534828e33f;  // 2^112
  std::memcpy(&u, &x, 4);
  if ((h.bits & 0x7C00u) == 0x7C00u) u |= 0x7F800000u;
  u |= uint32_t(h.bits & 0x8000u) << 16;
  std::memcpy(&x, &u, 4);
  return double(x);
}
template <class T> double as_double(T x) { return double(x); }

}  // namespace slimline
