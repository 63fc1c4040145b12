// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

// A library as people write it for CUDA's malloc, and that does not know warpheap: a hash table
// with chaining in device memory, C++14. Lanes count keys; a key's node is allocated when it is met
// for the first time. docs/migration.md moves it to warpheap.

#include <cuda_runtime.h>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace chained {

using key_type = std::uint64_t;
using count_type = unsigned long long;

inline void check(cudaError_t status, const char* attempted) {
  if (status != cudaSuccess) {
    throw std::runtime_error(std::string(attempted) + ": " + cudaGetErrorString(status));
  }
}

struct node {
  key_type key;
  count_type count;
  node* next;
};

/// What kernels get, by value. Nodes are pushed at the front of a bucket and stay until `prune` or
/// `clear`, which run alone; so a lane that walks a chain needs no lock.
class view {
 public:
  view(node** buckets, std::uint32_t mask) : buckets_(buckets), mask_(mask) {}

  /// Adds `amount` to the count of a key. False when out of memory.
  __device__ bool add(key_type key, count_type amount) {
    node** bucket = &buckets_[slot(key)];
    node* front = front_of(bucket);
    if (node* found = find_between(front, nullptr, key)) {
      atomicAdd(&found->count, amount);
      return true;
    }
    node* fresh = static_cast<node*>(malloc(sizeof(node)));
    if (fresh == nullptr) return false;
    fresh->key = key;
    fresh->count = amount;
    // Ends: an attempt fails only because another lane has pushed a node, of at most as many as
    // there are lanes.
    for (;;) {
      fresh->next = front;
      __threadfence();  // the node before the pointer to it
      node* seen = reinterpret_cast<node*>(atomicCAS(reinterpret_cast<count_type*>(bucket),
                                                     reinterpret_cast<count_type>(front),
                                                     reinterpret_cast<count_type>(fresh)));
      if (seen == front) return true;
      // The key may be among the nodes that came meanwhile.
      if (node* found = find_between(seen, front, key)) {
        atomicAdd(&found->count, amount);
        free(fresh);
        return true;
      }
      front = seen;
    }
  }

  /// The count of a key, 0 if it was never met.
  __device__ count_type count(key_type key) const {
    const node* found = find_between(front_of(&buckets_[slot(key)]), nullptr, key);
    return found == nullptr ? 0 : found->count;
  }

  /// Frees the nodes of a bucket whose count is below `least`; how many they were. One lane a
  /// bucket, while no lane adds.
  __device__ std::uint32_t prune(std::uint32_t bucket, count_type least) {
    std::uint32_t freed = 0;
    node** link = &buckets_[bucket];
    while (node* at = *link) {
      if (at->count < least) {
        *link = at->next;
        free(at);
        ++freed;
      } else {
        link = &at->next;
      }
    }
    return freed;
  }

  __host__ __device__ std::uint32_t buckets() const { return mask_ + 1; }

 private:
  __device__ static node* front_of(node* const* bucket) {
    return *const_cast<node* const volatile*>(bucket);
  }
  __device__ static node* find_between(node* from, const node* end, key_type key) {
    for (; from != end; from = from->next) {
      if (from->key == key) return from;
    }
    return nullptr;
  }
  __device__ std::uint32_t slot(key_type key) const {
    key ^= key >> 33;
    key *= 0xff51afd7ed558ccdull;
    key ^= key >> 33;
    return static_cast<std::uint32_t>(key) & mask_;
  }

  node** buckets_;
  std::uint32_t mask_;
};

__global__ void add_all(view table, const key_type* keys, std::uint32_t count,
                        std::uint32_t* refused) {
  const std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count && !table.add(keys[i], 1)) atomicAdd(refused, 1u);
}

__global__ void count_all(view table, const key_type* keys, std::uint32_t count,
                          count_type* counts) {
  const std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) counts[i] = table.count(keys[i]);
}

__global__ void prune_all(view table, count_type least, std::uint32_t* freed) {
  const std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= table.buckets()) return;
  const std::uint32_t here = table.prune(i, least);
  if (here != 0) atomicAdd(freed, here);
}

/// Owns the buckets and the nodes. Its members wait for the device.
class table {
 public:
  /// \param buckets a power of two
  explicit table(std::uint32_t buckets) : buckets_(buckets) {
    check(cudaMalloc(&memory_, buckets * sizeof(node*)), "allocate the buckets");
    check(cudaMemset(memory_, 0, buckets * sizeof(node*)), "clear the buckets");
    check(cudaMallocManaged(&answer_, sizeof *answer_), "allocate a counter");
  }
  ~table() {
    prune_all<<<blocks(buckets_), 256>>>(on_device(), ~count_type(0), answer_);
    cudaDeviceSynchronize();
    cudaFree(memory_);
    cudaFree(answer_);
  }
  table(const table&) = delete;
  table& operator=(const table&) = delete;

  view on_device() const { return view(memory_, buckets_ - 1); }

  /// Counts `keys` in device memory. How many of them there was no memory for.
  std::uint32_t add(const key_type* keys, std::uint32_t count) {
    *answer_ = 0;
    add_all<<<blocks(count), 256>>>(on_device(), keys, count, answer_);
    return answer("add keys");
  }
  /// Forgets the keys that were met less than `least` times. How many they were.
  std::uint32_t prune(count_type least) {
    *answer_ = 0;
    prune_all<<<blocks(buckets_), 256>>>(on_device(), least, answer_);
    return answer("prune");
  }

 private:
  static std::uint32_t blocks(std::uint32_t lanes) { return (lanes + 255) / 256; }
  std::uint32_t answer(const char* attempted) {
    check(cudaGetLastError(), attempted);
    check(cudaDeviceSynchronize(), attempted);
    return *answer_;
  }

  std::uint32_t buckets_;
  node** memory_ = nullptr;
  std::uint32_t* answer_ = nullptr;
};

}  // namespace chained
