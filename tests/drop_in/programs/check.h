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

/* A whole number of the command line, from 1 to `most`. These programs are compiled by nvcc alone,
   as their users' are, so there is no library for it; the exit status is that of CLI11. */
inline unsigned whole(const char* name, const char* written, unsigned most) {
  char* end = NULL;
  const long long number = std::strtoll(written, &end, 10);
  if (end == written || *end != 0 || number < 1 || number > most) {
    std::fprintf(stderr, "%s: %s is not a whole number from 1 to %u\n", name, written, most);
    std::exit(105);
  }
  return static_cast<unsigned>(number);
}

/* `count` objects that host and device see. */
template <class T>
T* managed(std::size_t count) {
  T* memory = nullptr;
  CUDA_CHECK(cudaMallocManaged(&memory, count * sizeof(T)));
  return memory;
}

#endif
