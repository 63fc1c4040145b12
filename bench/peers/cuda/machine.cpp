// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/peers/cuda/memory.hpp"
#include "bench/peers/peer.hpp"
#include "warpheap/simt/cuda/driver_version.hpp"

namespace warpheap::bench::peers {

machine open_machine() {
  cudaDeviceProp found;
  check(cudaGetDeviceProperties(&found, 0), "read the device's properties");
  cudaMemPool_t pool = nullptr;
  check(cudaDeviceGetDefaultMemPool(&pool, 0), "find the device's pool");
  std::uint64_t all = UINT64_MAX;
  check(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &all),
        "let the device's pool keep its memory");
  int level = 0;
  check(cudaDriverGetVersion(&level), "read the driver's version");
  const auto version = [](int number) {
    return "CUDA " + std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10);
  };
  const std::string loaded = simt::driver_version();
  return {found.name, loaded.empty() ? version(level) : loaded + " (" + version(level) + ")",
          version(CUDART_VERSION)};
}

}  // namespace warpheap::bench::peers
