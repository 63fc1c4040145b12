// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/simt/types.hpp"

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

WARPHEAP_BEGIN_NAMESPACE
namespace simt {

/// Acquire, for a lane that writes to what it has acquired before it reads it, as the new owner of
/// a block does. Relaxed is enough here: a store to an address that depends on a load is not
/// performed before that load; and the multiprocessor's cache, which an acquire would clear, holds
/// nothing that such a lane reads.
inline constexpr order acquire_to_write = order::relaxed;

/// Release, for stores of a lane that has passed `fence(order::release)`. Relaxed is enough, since
/// the fence orders all that follow; a store that releases is a fence of its own.
inline constexpr order release_by_fence = order::relaxed;

/// Reads a word that others may change, as a hint: the value comes from the multiprocessor's own
/// cache, so it may be old for as long as the kernel runs. The same as `__ldca`, which clang lacks.
template <class T>
requires(sizeof(T) == 4 || sizeof(T) == 8) WARPHEAP_DEVICE T load_hint(T& word) {
  T value;
  if constexpr (sizeof(T) == 4) {
    asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(value) : "l"(&word));
  } else {
    asm volatile("ld.global.ca.u64 %0, [%1];" : "=l"(value) : "l"(&word));
  }
  return value;
}

/// The same for four words that lie together, by one load: lanes with different addresses wait for
/// each load of a warp.
template <class T>
requires(sizeof(T) == 16 && alignof(T) >= 16) WARPHEAP_DEVICE T load_hints(T& words) {
  uint4 values;
  asm volatile("ld.global.ca.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(values.x), "=r"(values.y), "=r"(values.z), "=r"(values.w)
               : "l"(&words));
  T all;
  std::memcpy(&all, &values, sizeof all);
  return all;
}

/// Orders this lane's accesses before the fence against those after it, at device scope.
WARPHEAP_DEVICE inline void fence(order o) {
  if (o == order::seq_cst) {
    asm volatile("fence.sc.gpu;" ::: "memory");
  } else if (o != order::relaxed) {
    asm volatile("fence.acq_rel.gpu;" ::: "memory");
  }
}

// `before = ` one instruction `atom` on the word at `at`, in the order `o`. PTX has no sequentially
// consistent one: that is a fence before one that acquires (PTX ISA, "Memory Consistency Model").
#define WARPHEAP_ATOM_AS(ORDER, REGISTER, OPERATION, ...) \
  asm volatile("atom." ORDER ".gpu.global." OPERATION     \
               : "=" REGISTER(before)                     \
               : "l"(at_), __VA_ARGS__                    \
               : "memory")
#define WARPHEAP_ATOM(REGISTER, OPERATION, ...)                      \
  do {                                                               \
    if (o == order::relaxed) {                                       \
      WARPHEAP_ATOM_AS("relaxed", REGISTER, OPERATION, __VA_ARGS__); \
    } else if (o == order::release) {                                \
      WARPHEAP_ATOM_AS("release", REGISTER, OPERATION, __VA_ARGS__); \
    } else if (o == order::acq_rel) {                                \
      WARPHEAP_ATOM_AS("acq_rel", REGISTER, OPERATION, __VA_ARGS__); \
    } else {                                                         \
      if (o == order::seq_cst) fence(o);                             \
      WARPHEAP_ATOM_AS("acquire", REGISTER, OPERATION, __VA_ARGS__); \
    }                                                                \
  } while (false)

/// Atomic access to a word in device memory, at device scope. The word is in *global* memory, and
/// the instructions say so. `cuda::atomic_ref` takes any address, so ptxas adds a test and a second
/// path, for block-shared memory, to each operation (docs/performance.md).
template <class T>
requires(sizeof(T) == 4 || sizeof(T) == 8) class atomic_ref {
 public:
  WARPHEAP_DEVICE explicit atomic_ref(T& word) : at_(__cvta_generic_to_global(&word)) {}

  WARPHEAP_DEVICE T load(order o) const {
    if (o == order::seq_cst) fence(o);
    bits value;
    if constexpr (is_narrow) {
      if (o == order::relaxed) {
        asm volatile("ld.relaxed.gpu.global.b32 %0, [%1];" : "=r"(value) : "l"(at_) : "memory");
      } else {
        asm volatile("ld.acquire.gpu.global.b32 %0, [%1];" : "=r"(value) : "l"(at_) : "memory");
      }
    } else {
      if (o == order::relaxed) {
        asm volatile("ld.relaxed.gpu.global.b64 %0, [%1];" : "=l"(value) : "l"(at_) : "memory");
      } else {
        asm volatile("ld.acquire.gpu.global.b64 %0, [%1];" : "=l"(value) : "l"(at_) : "memory");
      }
    }
    return as<T>(value);
  }
  WARPHEAP_DEVICE void store(T value, order o) const {
    if (o == order::seq_cst) fence(o);
    if constexpr (is_narrow) {
      if (o == order::relaxed) {
        asm volatile("st.relaxed.gpu.global.b32 [%0], %1;" ::"l"(at_), "r"(as<bits>(value))
                     : "memory");
      } else {
        asm volatile("st.release.gpu.global.b32 [%0], %1;" ::"l"(at_), "r"(as<bits>(value))
                     : "memory");
      }
    } else {
      if (o == order::relaxed) {
        asm volatile("st.relaxed.gpu.global.b64 [%0], %1;" ::"l"(at_), "l"(as<bits>(value))
                     : "memory");
      } else {
        asm volatile("st.release.gpu.global.b64 [%0], %1;" ::"l"(at_), "l"(as<bits>(value))
                     : "memory");
      }
    }
  }
  WARPHEAP_DEVICE T exchange(T value, order o) const {
    bits before;
    if constexpr (is_narrow) {
      WARPHEAP_ATOM("r", "exch.b32 %0, [%1], %2;", "r"(as<bits>(value)));
    } else {
      WARPHEAP_ATOM("l", "exch.b64 %0, [%1], %2;", "l"(as<bits>(value)));
    }
    return as<T>(before);
  }
  /// True if the word held `expected` and now holds `desired`; else `expected` is what it holds.
  WARPHEAP_DEVICE bool compare_exchange(T& expected, T desired, order o) const {
    const bits wanted = as<bits>(expected);
    bits before;
    if constexpr (is_narrow) {
      WARPHEAP_ATOM("r", "cas.b32 %0, [%1], %2, %3;", "r"(wanted), "r"(as<bits>(desired)));
    } else {
      WARPHEAP_ATOM("l", "cas.b64 %0, [%1], %2, %3;", "l"(wanted), "l"(as<bits>(desired)));
    }
    expected = as<T>(before);
    return before == wanted;
  }
  WARPHEAP_DEVICE T fetch_add(T value, order o) const requires std::integral<T> {
    bits before;
    if constexpr (is_narrow) {
      WARPHEAP_ATOM("r", "add.u32 %0, [%1], %2;", "r"(as<bits>(value)));
    } else {
      WARPHEAP_ATOM("l", "add.u64 %0, [%1], %2;", "l"(as<bits>(value)));
    }
    return as<T>(before);
  }
  WARPHEAP_DEVICE T fetch_sub(T value, order o) const requires std::integral<T> {
    return fetch_add(as<T>(bits{0} - as<bits>(value)), o);
  }
  WARPHEAP_DEVICE T fetch_and(T value, order o) const requires std::integral<T> {
    bits before;
    if constexpr (is_narrow) {
      WARPHEAP_ATOM("r", "and.b32 %0, [%1], %2;", "r"(as<bits>(value)));
    } else {
      WARPHEAP_ATOM("l", "and.b64 %0, [%1], %2;", "l"(as<bits>(value)));
    }
    return as<T>(before);
  }
  WARPHEAP_DEVICE T fetch_or(T value, order o) const requires std::integral<T> {
    bits before;
    if constexpr (is_narrow) {
      WARPHEAP_ATOM("r", "or.b32 %0, [%1], %2;", "r"(as<bits>(value)));
    } else {
      WARPHEAP_ATOM("l", "or.b64 %0, [%1], %2;", "l"(as<bits>(value)));
    }
    return as<T>(before);
  }
  WARPHEAP_DEVICE T fetch_max(T value, order o) const requires std::integral<T> {
    bits before;
    if constexpr (is_narrow && std::is_signed_v<T>) {
      WARPHEAP_ATOM("r", "max.s32 %0, [%1], %2;", "r"(as<bits>(value)));
    } else if constexpr (is_narrow) {
      WARPHEAP_ATOM("r", "max.u32 %0, [%1], %2;", "r"(as<bits>(value)));
    } else if constexpr (std::is_signed_v<T>) {
      WARPHEAP_ATOM("l", "max.s64 %0, [%1], %2;", "l"(as<bits>(value)));
    } else {
      WARPHEAP_ATOM("l", "max.u64 %0, [%1], %2;", "l"(as<bits>(value)));
    }
    return as<T>(before);
  }

 private:
  static constexpr bool is_narrow = sizeof(T) == 4;
  using bits = std::conditional_t<is_narrow, std::uint32_t, std::uint64_t>;

  template <class To, class From>
  WARPHEAP_DEVICE static To as(From value) {
    To same;
    std::memcpy(&same, &value, sizeof same);
    return same;
  }

  std::size_t at_;  ///< the address in the global state space
};

#undef WARPHEAP_ATOM
#undef WARPHEAP_ATOM_AS

/// Atomic access to a word in block-shared memory, for lanes of the block. Relaxed: a barrier
/// orders what they did. Using `atomic_ref` for such a word is an error, because that is for global
/// memory.
template <class T>
requires(sizeof(T) == 4 || sizeof(T) == 8) && std::unsigned_integral<T> class block_atomic_ref {
 public:
  WARPHEAP_DEVICE explicit block_atomic_ref(T& word) : at_(reinterpret_cast<word_type*>(&word)) {}

  WARPHEAP_DEVICE T exchange(T value, order /*relaxed*/) const {
    return static_cast<T>(atomicExch_block(at_, static_cast<word_type>(value)));
  }
  /// True if the word held `expected` and now holds `desired`; else `expected` is what it holds.
  WARPHEAP_DEVICE bool compare_exchange(T& expected, T desired, order /*relaxed*/) const {
    const word_type wanted = expected;
    expected = static_cast<T>(atomicCAS_block(at_, wanted, static_cast<word_type>(desired)));
    return expected == static_cast<T>(wanted);
  }
  WARPHEAP_DEVICE T fetch_add(T value, order /*relaxed*/) const {
    return static_cast<T>(atomicAdd_block(at_, static_cast<word_type>(value)));
  }
  WARPHEAP_DEVICE T fetch_max(T value, order /*relaxed*/) const {
    return static_cast<T>(atomicMax_block(at_, static_cast<word_type>(value)));
  }

 private:
  using word_type = std::conditional_t<sizeof(T) == 4, unsigned int, unsigned long long>;
  word_type* at_;
};

}  // namespace simt
WARPHEAP_END_NAMESPACE
