// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// What the cases see of a machine and of a heap on it. Cases are host code that is compiled once;
/// behind these interfaces stand the CPU model and the CUDA model, and every manager.

#include "bench/host/fields.hpp"
#include "warpheap/core/kernel_resources.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <typeinfo>
#include <utility>
#include <vector>

namespace warpheap::bench {

/// How a manager that hands out numbered pages looks for a free one.
struct page_search {
  /// Pages that a step looks at.
  int word_bits = 0;
  /// In the manager's own words.
  std::string name;
};

/// What the cases must know of a manager.
struct manager_info {
  std::string name;
  /// Bytes; 0: limited by the heap alone.
  std::uint64_t largest_block = 0;
  std::uint64_t alignment = 16;
  bool frees = true;
  /// A full heap returns null, and blocks in use do not overlap.
  bool runs_out = true;
  /// Its blocks are pages of one size.
  bool fixed_pages = false;
  /// Hands out objects of types that are fixed when it is compiled.
  bool objects = false;
  /// Of a manager that hands out numbered pages; the case `random_walk_steps` alone needs it.
  std::optional<page_search> numbered_pages;
  /// Its publication and all that it claims, for `list`.
  std::vector<std::pair<std::string, field_value>> about, claims;
  /// From its publication, a sentence each.
  std::vector<std::string> deviations;
};

/// A manager that this program cannot offer.
struct missing_info : manager_info {
  std::string reason;
};

struct machine_info {
  std::string device, driver, toolkit;
  std::uint64_t memory_bytes = 0;
  /// Threads that can be resident at once.
  std::uint64_t resident_threads = 1;
  /// Lanes can read a clock.
  bool has_clock = false;
};

struct heap_settings {
  std::uint64_t heap_bytes = 0;
  /// Bytes of a page, for managers of fixed pages.
  std::uint64_t page_bytes = 0;
};

/// A launch of a kernel, with the kernel's request.
struct launch_request {
  std::uint64_t threads = 0;
  std::uint32_t threads_per_block = 0;
  const void* request = nullptr;
  /// What each block has, for kernels that use block-shared memory.
  std::uint32_t shared_bytes = 0;
};

/// Runs kernels. Which kernel is meant is the type of its request: a plain structure that host code
/// of any compiler and lanes share. All arrays are in device memory. Errors of the device are
/// exceptions.
class launcher {
 public:
  virtual ~launcher() = default;

  /// Runs the kernel in `threads` lanes, waits, and returns the milliseconds that it took.
  /// \throws invalid_argument if there is no such kernel here
  template <class Request>
  double launch(std::uint64_t threads, const Request& request) {
    return run(typeid(Request), {{threads, 256, &request, 0}}).front();
  }

  /// Runs the kernel in `blocks` blocks of `threads_per_block` lanes with `shared_bytes` of shared
  /// memory each, waits, and returns the milliseconds that it took.
  /// \throws invalid_argument if there is no such kernel here
  template <class Request>
  double launch_blocks(std::uint64_t blocks, std::uint32_t threads_per_block,
                       std::uint32_t shared_bytes, const Request& request) {
    return run(typeid(Request),
               {{blocks * threads_per_block, threads_per_block, &request, shared_bytes}})
        .front();
  }

  /// Runs the kernel once for each request, in `threads` lanes and in blocks of
  /// `threads_per_block[i]`, all at the same time if the machine can. Waits; the milliseconds that
  /// each took. \throws invalid_argument if there is no such kernel here
  template <class Request>
  std::vector<double> launch_together(std::uint64_t threads,
                                      const std::vector<std::uint32_t>& threads_per_block,
                                      const std::vector<Request>& requests) {
    std::vector<launch_request> launches;
    for (std::size_t i = 0; i < requests.size(); ++i) {
      launches.push_back({threads, threads_per_block[i], &requests[i], 0});
    }
    return run(typeid(Request), launches);
  }

 private:
  virtual std::vector<double> run(const std::type_info& kernel,
                                  const std::vector<launch_request>& launches) = 0;
};

/// What a heap reports about itself while no lane uses it.
struct heap_state {
  std::uint64_t blocks_in_use = 0;
  std::uint64_t bytes_in_use = 0;
  /// Invariants of the manager that do not hold.
  std::uint64_t broken_invariants = 0;
  /// Bytes of the largest request that the heap ever serves.
  std::uint64_t largest_block = 0;
};

/// A heap that is to be measured, and the kernels that use one.
class test_heap : public launcher {
 public:
  explicit test_heap(std::uint32_t page_count) : page_count_(page_count) {}

  /// Everything is free again. Waits until that is done.
  virtual void reset() = 0;

  virtual heap_state state() const = 0;

  /// How many numbered pages the manager hands out; 0 if it has none.
  std::uint32_t page_count() const { return page_count_; }

 private:
  std::uint32_t page_count_;
};

/// What the kernels of `allocation` and of `freeing` take.
struct call_resources {
  kernel_resources malloc;
  kernel_resources free;
};

/// Pairs in device memory, keys and values apart.
struct columns {
  std::uint32_t* keys = nullptr;
  std::uint32_t* values = nullptr;
};

/// A machine, the kernels that need no heap, and general services that its vendor's libraries do
/// better than kernels of ours: whichever workload needs one uses it, and a kernel that one
/// workload alone needs is in its folder. What a kernel takes is for the case `registers` alone,
/// and yet here: it depends on how this machine's kernels of each manager were compiled.
class machine : public launcher {
 public:
  virtual const machine_info& info() const = 0;

  /// \throws out_of_memory with the size of the device's memory
  virtual void* allocate(std::size_t bytes) = 0;
  virtual void deallocate(void* pointer, std::size_t bytes) noexcept = 0;
  virtual void to_host(void* host, const void* on_device, std::size_t bytes) = 0;
  virtual void to_device(void* on_device, const void* host, std::size_t bytes) = 0;
  virtual void fill(void* on_device, std::uint8_t byte, std::size_t bytes) = 0;

  /// As `allocate`, from a pool that the machine keeps, if it has one: much faster once it is warm.
  virtual void* allocate_pooled(std::size_t bytes) = 0;
  virtual void deallocate_pooled(void* pointer, std::size_t bytes) noexcept = 0;

  /// Replaces each of `count` numbers in device memory by the sum of those before it. Waits.
  virtual void exclusive_scan(std::uint64_t* numbers, std::uint64_t count) = 0;

  /// Orders pairs of `from` by the bits `first_bit` to `end_bit - 1` of their keys into `to`; pairs
  /// that are equal there stay in their order. Waits; the milliseconds that it took.
  /// \pre `from` and `to` do not overlap
  virtual double sort(const columns& from, const columns& to, std::uint64_t count, int first_bit,
                      int end_bit) = 0;

  /// \throws invalid_argument if the manager needs a larger heap, out_of_memory if the device has
  /// less
  virtual std::unique_ptr<test_heap> open(const std::string& manager,
                                          const heap_settings& settings) = 0;

  /// What the kernels of calls take with that manager, and with calls that do nothing.
  /// \throws invalid_argument if the machine does not tell
  virtual call_resources resources(const std::string& manager) = 0;
  virtual call_resources idle_resources() = 0;
};

/// What a program offers, whether or not its device is there.
struct backend_info {
  /// "cpu" or "cuda"
  std::string name;
  std::vector<manager_info> managers;
  std::vector<missing_info> missing;
  std::uint64_t default_heap_bytes = 0;
  /// Lanes can read a clock.
  bool has_clock = false;
  /// The machine tells what a kernel takes.
  bool tells_resources = false;
};

/// Defined once in each program, by its backend.
backend_info describe_backend();

/// \throws error if there is no device
std::unique_ptr<machine> open_machine();

}  // namespace warpheap::bench
