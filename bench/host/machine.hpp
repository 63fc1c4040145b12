// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// What the cases see of a machine and of a heap on it. Cases are host code that is compiled once;
/// behind these two interfaces stand the CPU model and the CUDA model, and every manager.

#include "bench/host/requests.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace warpheap::bench {

enum class manager_scope { thread, warp, object, page };

/// How a manager that hands out numbered pages looks for one.
enum class walk_kind {
  independent,    ///< each lane by itself
  collaborative,  ///< the lanes that call together, whose steps are then the group's
  clustered,      ///< each lane by itself, first where it found the last page
};

/// A manager's capabilities, and what else the cases must know of it.
struct manager_info {
  std::string name, description, folder;
  std::string title, authors, venue, doi;
  int year = 0;
  std::vector<std::string> deviations;
  /// Bytes; 0: limited by the heap alone.
  std::uint64_t largest_block = 0;
  std::uint64_t alignment = 16;
  bool frees = true;
  manager_scope scope = manager_scope::thread;
  /// "all", "partial" or "none"
  std::string reuse = "all";
  bool growth = false;
  bool resets = true;
  /// Pages that a step of a walk looks at; 0: the manager does not hand out numbered pages.
  int word_bits = 0;
  walk_kind walk = walk_kind::independent;
};

/// A manager that this program cannot offer.
struct missing_info : manager_info {
  std::string reason;
};

struct machine_info {
  /// "cpu" or "cuda"
  std::string backend;
  std::string device, driver, toolkit;
  std::uint64_t memory_bytes = 0;
  /// Lanes can read a clock.
  bool has_clock = false;
};

struct heap_settings {
  std::uint64_t heap_bytes = 0;
  /// Bytes of a page, for managers of fixed pages.
  std::uint64_t page_bytes = 0;
};

/// A heap that is to be measured. All arrays are in device memory; times are milliseconds of one
/// launch. Errors of the device are exceptions.
class test_heap {
 public:
  virtual ~test_heap() = default;

  virtual const manager_info& manager() const = 0;

  /// Everything is free again. Waits until that is done.
  virtual void reset() = 0;

  /// Serves the requests of a batch: their blocks' addresses, or 0.
  virtual double allocate(const request_batch& batch, std::uint64_t* addresses) = 0;

  /// Frees the selected blocks of `count`. With a partial selection, sets their addresses to 0.
  virtual double release(std::uint64_t count, const selection& which, std::uint64_t* addresses) = 0;

  /// As `allocate` and `release`, with the clock ticks that each lane's call took.
  virtual void allocate_clocked(const request_batch& batch, std::uint64_t* addresses,
                                std::uint32_t* ticks) = 0;
  virtual void release_clocked(std::uint64_t count, const std::uint64_t* addresses,
                               std::uint32_t* ticks) = 0;

  virtual double churn(const churn_request& request, churn_report* report) = 0;

  /// Numbered pages, where `manager_info::word_bits` is not 0.
  virtual std::uint32_t page_count() const = 0;
  /// `threads` lanes take a page each: its number or `no_page`, and how many steps that took.
  virtual void take_pages(std::uint64_t threads, std::uint32_t* pages, std::uint32_t* steps) = 0;
  virtual void give_pages(std::uint64_t threads, const std::uint32_t* pages) = 0;
};

class machine {
 public:
  virtual ~machine() = default;

  virtual const machine_info& info() const = 0;

  /// \throws out_of_memory, with what there is
  virtual void* allocate(std::size_t bytes) = 0;
  virtual void deallocate(void* pointer, std::size_t bytes) noexcept = 0;
  virtual void to_host(void* host, const void* on_device, std::size_t bytes) = 0;
  virtual void to_device(void* on_device, const void* host, std::size_t bytes) = 0;
  virtual void fill(void* on_device, std::uint8_t byte, std::size_t bytes) = 0;

  /// \throws invalid_argument if the manager needs a larger heap, out_of_memory if the device has
  /// less
  virtual std::unique_ptr<test_heap> open(const std::string& manager,
                                          const heap_settings& settings) = 0;

  /// Writes a pattern that no other block has into every block: small ones whole, large ones at
  /// both ends.
  virtual void write_blocks(const request_batch& batch, const std::uint64_t* addresses) = 0;

  /// Looks at every block, with `contents` also at what is written in it.
  virtual block_report examine_blocks(const request_batch& batch, const std::uint64_t* addresses,
                                      std::uint64_t alignment, bool contents) = 0;

  /// Every vertex's lane writes its adjacency into its block: milliseconds.
  virtual double write_adjacencies(const adjacency_table& table) = 0;
  /// How many adjacencies are not in their block as the graph has them (null blocks left out).
  virtual std::uint64_t count_wrong_adjacencies(const adjacency_table& table) = 0;
};

/// What a program offers, whether or not its device is there.
struct backend_info {
  /// "cpu" or "cuda"
  std::string name;
  std::vector<manager_info> managers;
  std::vector<missing_info> missing;
  std::uint64_t default_heap_bytes = 0;
};

/// Defined once in each program, by its backend.
backend_info describe_backend();

/// \throws error if there is no device
std::unique_ptr<machine> open_machine();

}  // namespace warpheap::bench
