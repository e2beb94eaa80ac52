// The grouped embedding of sparse rows: places and signs of a whole vector of non-zeros are found at once, in a table with
// four bytes a group; only the adding goes one by one, as two of them may meet.
#include "isa/simd.hpp"
#include "isa/table.hpp"

namespace slimline::SLIMLINE_ISA {
namespace {

// One non-zero: `a` is the number of its feature, counted from the first lane of the table's first group.
template <class T> SLIMLINE_INLINE void add_one(const uint32_t* entry, size_t each, size_t a, T value, T* sums) {
  const uint32_t lane = uint32_t(a % group_width);
  for (size_t t = 0; t < each; t++) {
    const uint32_t e = entry[a / group_width * each + t];
    sums[(e >> 16) ^ lane] += flip(value, e >> (lane ^ (e >> 16 & 7u)) & 1u);
  }
}

#if SLIMLINE_VECTOR_BYTES >= 32

SLIMLINE_INLINE vu gather(const uint32_t* table, vu place) {
#if SLIMLINE_VECTOR_BYTES == 64
  return (vu)_mm512_i32gather_epi32((__m512i)place, (const int*)table, 4);
#else
  return (vu)_mm256_i32gather_epi32((const int*)table, (__m256i)place, 4);
#endif
}

SLIMLINE_INLINE vu load_indices(const int32_t* index) { return load<vu>(index); }
SLIMLINE_INLINE vu load_indices(const int64_t* index) {  // below 2^32 once `all_below` has seen them
  vu low;
  SLIMLINE_UNROLL
  for (int i = 0; i < float_lanes; i++) low[i] = uint32_t(uint64_t(index[i]));
  return low;
}

// Without a branch at each: negative ones are large without a sign.
template <class Index> SLIMLINE_INLINE bool all_below(const Index* index, size_t columns) {
  bool below = true;
  SLIMLINE_UNROLL
  for (int i = 0; i < float_lanes; i++) below &= uint64_t(int64_t(index[i])) < columns;
  return below;
}
template <> SLIMLINE_INLINE bool all_below<int32_t>(const int32_t* index, size_t columns) {
  const vu v = load<vu>(index), most = vu{} + uint32_t(columns - 1);
#if SLIMLINE_VECTOR_BYTES == 64
  return _mm512_cmpgt_epu32_mask((__m512i)v, (__m512i)most) == 0;
#else
  return _mm256_movemask_epi8(_mm256_cmpeq_epi32(_mm256_max_epu32((__m256i)v, (__m256i)most), (__m256i)most)) == -1;
#endif
}

template <size_t fixed, class Index, class T>
SLIMLINE_INLINE bool add_vectors(const uint32_t* table, size_t parts, uint32_t first_lane, size_t columns, const Index* index,
                                 const T* value, size_t& done, size_t count, T factor, T* sums) {
  const size_t each = fixed ? fixed : parts;
  constexpr size_t at_once = size_t(float_lanes);
  alignas(vector_bytes) uint32_t place[at_once], negative[at_once];
  alignas(vector_bytes) T signed_value[at_once];
  for (; done + at_once <= count; done += at_once) {
    if (!all_below(index + done, columns)) return false;
    const vu a = load_indices(index + done) + first_lane, lane = a & uint32_t(group_width - 1);
    const vu group = (a / uint32_t(group_width)) * uint32_t(each);
    for (size_t t = 0; t < each; t++) {
      const vu e = gather(table + t, group), high = e >> 16;
      store(place, high ^ lane);
      const vu sign = e >> (lane ^ (high & 7u));
      if constexpr (sizeof(T) == 4) {
        store(signed_value, flip(load<vf>(value + done) * factor, sign << 31));
      } else {
        store(negative, sign);
        SLIMLINE_UNROLL
        for (size_t k = 0; k < at_once; k++) signed_value[k] = flip(value[done + k] * factor, negative[k] & 1u);
      }
      SLIMLINE_UNROLL
      for (size_t k = 0; k < at_once; k++) sums[place[k]] += signed_value[k];
    }
  }
  return true;
}

#else

template <size_t fixed, class Index, class T>
SLIMLINE_INLINE bool add_vectors(const uint32_t*, size_t, uint32_t, size_t, const Index*, const T*, size_t&, size_t, T, T*) {
  return true;  // no gather here: one by one is as fast
}

#endif

template <class Index, class T>
bool grouped_sparse(const uint32_t* table, size_t each, size_t first_lane, size_t columns, const void* indices, const T* value,
                    size_t count, double scale, T* sums) {
  const Index* index = (const Index*)indices;
  const T factor = T(scale);
  if (columns == 0) return count == 0;
  size_t done = 0;
  const uint32_t lane = uint32_t(first_lane);
  const bool sound = each == 1   ? add_vectors<1>(table, each, lane, columns, index, value, done, count, factor, sums)
                     : each == 4 ? add_vectors<4>(table, each, lane, columns, index, value, done, count, factor, sums)
                                 : add_vectors<0>(table, each, lane, columns, index, value, done, count, factor, sums);
  if (!sound) return false;
  for (; done < count; done++) {
    if (uint64_t(int64_t(index[done])) >= columns) return false;
    add_one(table, each, first_lane + size_t(index[done]), value[done] * factor, sums);
  }
  return true;
}

template <class T> void add_type(FamilyKernels<T>& k) {
  k.grouped_sparse[0] = grouped_sparse<int32_t, T>;
  k.grouped_sparse[1] = grouped_sparse<int64_t, T>;
}

}  // namespace

void add_grouped_sparse_kernels(Kernels& table) {
  add_type(table.f32.families), add_type(table.f64.families);
}

}  // namespace slimline::SLIMLINE_ISA
