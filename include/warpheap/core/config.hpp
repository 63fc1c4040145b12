// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// What every header needs to know about the compiler that reads it.
///
/// A translation unit is compiled for exactly one model of a SIMT machine: by nvcc for the CUDA
/// model, by any other C++20 compiler for the CPU model. Both models define the same names, so all
/// of them live in an inline namespace of the model: a program that links both has two distinct
/// entities and no violation of the one-definition rule.

#if __cplusplus < 202002L
#error "warpheap needs C++20: compile with -std=c++20; nvcc has it from version 12.4 on"
// A header that does not exist ends the compilation here, before hundreds of errors that follow.
#include <compile_with_std_cpp20>
#endif

#if defined(__CUDACC__)
#define WARPHEAP_CUDA_MODEL 1
#define WARPHEAP_MODEL cuda_model
/// A function that host code and lanes may call.
#define WARPHEAP_HD __host__ __device__
/// A function that only lanes may call.
#define WARPHEAP_DEVICE __device__
/// A function that only lanes may call, and seldom: kept apart, so that its registers are not
/// those of its callers.
#define WARPHEAP_RARE __device__ __noinline__

/// What core/bits.hpp needs of <bit>, for host code and lanes. nvcc has it as <cuda/std/bit>, too,
/// which brings 10,000 lines: the headers of all small floating-point types.
namespace warpheap::cuda_bits {

template <class Word>
__host__ __device__ constexpr int popcount(Word word) {
  return sizeof(Word) == 8 ? __builtin_popcountll(word) : __builtin_popcount(word);
}

/// \pre `word != 0`
template <class Word>
__host__ __device__ constexpr int countl_zero(Word word) {
  constexpr int beyond = sizeof(Word) == 8 ? 0 : 32 - static_cast<int>(sizeof(Word) * 8);
  return (sizeof(Word) == 8 ? __builtin_clzll(word) : __builtin_clz(word)) - beyond;
}

/// \pre `word != 0`
template <class Word>
__host__ __device__ constexpr int countr_zero(Word word) {
#if defined(__CUDA_ARCH__)
  // nvcc has no __builtin_ctz for lanes, and no constant expression of what they have instead.
  if (__builtin_is_constant_evaluated()) return popcount(static_cast<Word>(~word & (word - 1)));
  return sizeof(Word) == 8 ? __clzll(static_cast<long long>(__brevll(word)))
                           : __clz(static_cast<int>(__brev(static_cast<unsigned>(word))));
#else
  return __builtin_ctzll(word);
#endif
}

}  // namespace warpheap::cuda_bits
#define WARPHEAP_BIT ::warpheap::cuda_bits
#else
#define WARPHEAP_CUDA_MODEL 0
#define WARPHEAP_MODEL cpu_model
#define WARPHEAP_HD
#define WARPHEAP_DEVICE
#define WARPHEAP_RARE
#include <bit>
#define WARPHEAP_BIT ::std
#endif

// clang-format off
#define WARPHEAP_BEGIN_NAMESPACE namespace warpheap { inline namespace WARPHEAP_MODEL {
#define WARPHEAP_END_NAMESPACE } }
// clang-format on
