// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The shared library of modules.cu.
__global__ void library_take_lanes(void** all) { all[threadIdx.x] = malloc(100); }
__global__ void library_give_lanes(void** all) { free(all[threadIdx.x]); }

extern "C" __attribute__((visibility("default"))) void library_take(void** all, unsigned count) {
  library_take_lanes<<<1, count>>>(all);
}
extern "C" __attribute__((visibility("default"))) void library_give(void** all, unsigned count) {
  library_give_lanes<<<1, count>>>(all);
}
