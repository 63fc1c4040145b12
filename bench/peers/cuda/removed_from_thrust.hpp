// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// cuCollections of October 2024 uses `thrust::identity`, which CCCL 3 (CUDA 13) no longer has. It
/// is put back here, so that the peer is built from its source as it is. Include it first.

#include <cuda/std/version>

#if CCCL_VERSION >= 3000000
namespace thrust {

template <class T = void>
struct identity {
  __host__ __device__ constexpr const T& operator()(const T& value) const { return value; }
};

template <>
struct identity<void> {
  template <class T>
  __host__ __device__ constexpr T&& operator()(T&& value) const {
    return static_cast<T&&>(value);
  }
};

}  // namespace thrust
#endif
