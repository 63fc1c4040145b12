/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef DROPIN_CHECK_H
#define DROPIN_CHECK_H

#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>

/* Ends the program with status 1 and the line of what does not hold. */
#define CHECK(condition)                                                                \
  do {                                                                                  \
    if (!(condition)) {                                                                 \
      std::fprintf(stderr, "%s:%d: does not hold: %s (CUDA: %s)\n", __FILE__, __LINE__, \
                   #condition, cudaGetErrorString(cudaPeekAtLastError()));              \
      std::exit(1);                                                                     \
    }                                                                                   \
  } while (0)
#define CUDA_CHECK(call) CHECK((call) == cudaSuccess)

/* `count` objects that host and device see. */
template <class T>
T* managed(std::size_t count) {
  T* memory = nullptr;
  CUDA_CHECK(cudaMallocManaged(&memory, count * sizeof(T)));
  return memory;
}

#endif
