// Which instruction set: the best this CPU has, or the one that SLIMLINE_ISA names.
#include <cstring>

#include "isa/kernels.hpp"

namespace slimline {

namespace baseline { const Kernels& table(); }
#if defined(SLIMLINE_X86)
namespace avx2 { const Kernels& table(); }
#endif
#if defined(SLIMLINE_AVX512)
namespace avx512 { const Kernels& table(); }
#endif

namespace {

struct Choice { const char* name; bool supported; const Kernels& (*table)(); };

const Choice* choices() {
#if defined(SLIMLINE_X86)
  static const bool has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c");
#if defined(SLIMLINE_AVX512)
  static const bool has_avx512 = has_avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                                 __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
#endif
#endif
  static const Choice list[] = {
#if defined(SLIMLINE_AVX512)
      {"avx512", has_avx512, avx512::table},
#endif
#if defined(SLIMLINE_X86)
      {"avx2", has_avx2, avx2::table},
#endif
      {"baseline", true, baseline::table},
      {nullptr, false, nullptr}};
  return list;
}

const Kernels*& current() {
  static const Kernels* table = [] {
    const Choice* c = choices();
    while (!c->supported) c++;
    return &c->table();
  }();
  return table;
}

}  // namespace

const Kernels& kernels() { return *current(); }

const char* const* supported() {
  static const char* names[4] = {};
  size_t count = 0;
  for (const Choice* c = choices(); c->name; c++)
    if (c->supported) names[count++] = c->name;
  return names;
}

bool select_isa(const char* name) {
  for (const Choice* c = choices(); c->name; c++)
    if (c->supported && std::strcmp(c->name, name) == 0) {
      current() = &c->table();
      return true;
    }
  return false;
}

}  // namespace slimline
