// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>

#include "warpheap/host/extent.hpp"
#include "warpheap/host/policy_options.hpp"

namespace warpheap::host {

/// A policy whose regions can grow at their end:
/// - `free_at_end(base)`: the size of the free block that ends the region which starts at `base`.
/// - `extend_region(base, bytes)`: the region is `bytes` bytes longer from now on.
/// Both O(blocks): they are called where the upstream is called too.
template <class Policy>
concept extendable_policy = requires(Policy policy, address base, std::size_t bytes) {
  { policy.free_at_end(base) } -> std::same_as<std::size_t>;
  { policy.extend_region(base, bytes) } -> std::same_as<void>;
};

/// A policy that can do without parts of its memory: what is *vacant* is neither free nor handed
/// out, and `for_each_block` passes it over.
/// - `vacate(part)`: vacant from now on. \pre one free block contains `part`
/// - `fill(part)`: free again. \pre `part` is vacant
/// - `for_each_unused(f)`: calls `f(extent, vacant)` over the free blocks and the vacant parts of
///   every region in address order.
/// - `spare_percent`: the memory that the policy is expected to need for its holes, in percent of
///   that in use.
/// - `make_room()`: ensures that the bookkeeping has room for some dozen more blocks; false if that
///   fails.
/// - `region_is_free` and `remove_region` treat vacant parts as free.
/// All O(blocks): they are called where the upstream is called too.
template <class Policy>
concept vacatable_policy = extendable_policy<Policy> &&
    requires(Policy policy, const Policy constant, extent part,
             std::function<void(extent, bool)> visit) {
  { Policy::spare_percent } -> std::convertible_to<std::size_t>;
  { policy.vacate(part) } -> std::same_as<void>;
  { policy.fill(part) } -> std::same_as<void>;
  { constant.for_each_unused(visit) } -> std::same_as<void>;
  { policy.make_room() } -> std::same_as<bool>;
};

/// A placement policy: decides where in its regions a block goes. It gets addresses, never memory.
/// For one thread at a time: the pool around it locks, counts, grows and orders streams.
///
/// - `add_region(r)`: `r` is managed from now on; base and size are multiples of the granule. If it
///   throws because the process has no memory for the books, nothing has changed.
/// - `region_is_free(base)`: no block of the region that starts at `base` is handed out.
/// - `remove_region(base)`: forgets that region. \pre `region_is_free(base)`
/// - `allocate(bytes, alignment, effort)`: a block of at least `bytes` bytes, or nothing. If
///   `aligns`, its base is a multiple of `alignment` (a power of two); else only of the granule.
///   \pre `bytes != 0`
/// - `deallocate(base)`: takes the block back and returns its size; 0 if no block handed out starts
///   at `base`, and then nothing has changed.
/// - `truncate(base, bytes)`, if `truncates`: keeps the first `bytes` bytes of the block, rounded
///   up to the granule, and takes its tail back. Returns the bytes taken back, which may be 0.
///   \pre a block handed out starts at `base`
/// - `block_at(base)`: the block handed out that starts at `base`, or nothing.
/// - `for_each_block(f)`: calls `f(extent, used)` over the tiles of every region in address order.
///   O(blocks), not meant for the fast path.
/// - `region_for(bytes)`: the size of a fresh region that certainly serves a request of `bytes`
///   bytes, a multiple of the granule.
/// - `check()`: verifies the policy's numbered invariants; returns the first violation, if any.
template <class Policy>
concept placement_policy = std::constructible_from<Policy, policy_options> &&
    requires(Policy policy, const Policy constant, address base, std::size_t bytes, extent region,
             std::function<void(extent, bool)> visit) {
  { Policy::truncates } -> std::convertible_to<bool>;
  { Policy::aligns } -> std::convertible_to<bool>;
  { Policy::region_for(bytes) } -> std::same_as<std::size_t>;
  { policy.add_region(region) } -> std::same_as<void>;
  { policy.remove_region(base) } -> std::same_as<void>;
  { constant.region_is_free(base) } -> std::same_as<bool>;
  { policy.allocate(bytes, bytes, effort::bounded) } -> std::same_as<extent>;
  { policy.deallocate(base) } -> std::same_as<std::size_t>;
  { policy.truncate(base, bytes) } -> std::same_as<std::size_t>;
  { constant.block_at(base) } -> std::same_as<extent>;
  { constant.for_each_block(visit) } -> std::same_as<void>;
  { constant.check() } -> std::same_as<std::optional<std::string>>;
};

}  // namespace warpheap::host
