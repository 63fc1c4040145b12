// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "warpheap/core/align.hpp"
#include "warpheap/host/c/range.h"
#include "warpheap/host/policies/registry.hpp"
#include "warpheap/host/pools/divided_pool.hpp"
#include "warpheap/host/pools/offset_range.hpp"
#include "warpheap/host/pools/stream_pool.hpp"

#if defined(WARPHEAP_OFFSET_ALLOCATOR)
#include <offsetAllocator.hpp>
#endif
#if defined(WARPHEAP_VMA)
#include <vk_mem_alloc.h>
#endif

/// The allocators that are compared, each behind the same members:
/// - `subject(range_bytes, most_blocks)`: manages that many bytes.
/// - `allocate(bytes)`: a handle; `offset(handle)`: where the block starts, or `nowhere`.
/// - `deallocate(handle)`.
/// - `has_lock`: several threads may call it at once.
/// A handle is what a caller must keep to know where its block is and to free it, and no more: the
/// replay keeps one for each block, and they compete for the caches with the allocator's records.
/// Requests are rounded up to a granule of 256 bytes by all of them.
namespace warpheap::bench::host_pools {

inline constexpr std::size_t granule = 256;
inline constexpr std::uint64_t nowhere = ~std::uint64_t{0};
/// Where the managed addresses start: they are never touched.
inline constexpr host::address base = host::address{1} << 44;

/// A placement policy alone: one thread, no lock, frees by address.
template <class Policy>
class policy_subject {
 public:
  static constexpr bool has_lock = false;
  policy_subject(std::uint64_t range, std::size_t) : policy_(host::policy_options{granule}) {
    policy_.add_region({base, align_down<std::size_t>(range, granule)});
  }
  host::address allocate(std::uint64_t bytes) {
    return policy_.allocate(bytes, granule, host::effort::bounded).base;
  }
  void deallocate(host::address block) { policy_.deallocate(block); }
  static std::uint64_t offset(host::address block) { return block != 0 ? block - base : nowhere; }

 private:
  Policy policy_;
};

/// The default policy in a range of offsets, as users of C and C++ have it: frees by handle.
class range_subject {
 public:
  static constexpr bool has_lock = false;
  range_subject(std::uint64_t range, std::size_t) : range_(range, granule) {}
  struct block {
    std::uint64_t offset;
    std::uint64_t handle;
  };
  block allocate(std::uint64_t bytes) {
    const host::offset_range::block made = range_.allocate(bytes);
    return {made.bytes != 0 ? made.offset : nowhere, made.handle};
  }
  void deallocate(block freed) { range_.deallocate(freed.handle); }
  static std::uint64_t offset(block made) { return made.offset; }

 private:
  host::offset_range range_;
};

/// The same through the C interface of the library.
class range_c_subject {
 public:
  static constexpr bool has_lock = false;
  range_c_subject(std::uint64_t range, std::size_t) {
    warpheap_range_create(range, granule, &range_);
  }
  ~range_c_subject() { warpheap_range_destroy(range_); }
  range_c_subject(const range_c_subject&) = delete;
  range_c_subject& operator=(const range_c_subject&) = delete;
  range_subject::block allocate(std::uint64_t bytes) {
    warpheap_range_block made;
    if (warpheap_range_allocate(range_, bytes, 1, &made) != WARPHEAP_OK) return {nowhere, 0};
    return {made.offset, made.handle};
  }
  void deallocate(range_subject::block freed) { warpheap_range_free(range_, freed.handle); }
  static std::uint64_t offset(range_subject::block made) { return made.offset; }

 private:
  warpheap_range* range_ = nullptr;
};

/// A pool that users have: any thread, any stream.
template <class Pool>
class threads_subject {
 public:
  static constexpr bool has_lock = true;
  void* allocate(std::uint64_t bytes) {
    return pool_.try_allocate(bytes, granule, host::stream_id::none);
  }
  void deallocate(void* memory) { pool_.deallocate(memory, host::stream_id::none); }
  static std::uint64_t offset(void* memory) {
    return memory != nullptr ? reinterpret_cast<host::address>(memory) - base : nowhere;
  }

 protected:
  template <class... Arguments>
  explicit threads_subject(Arguments&&... arguments)
      : pool_(std::forward<Arguments>(arguments)...) {}

 private:
  Pool pool_;
};

template <class Policy>
class pool_subject : public threads_subject<host::stream_pool<Policy>> {
 public:
  pool_subject(std::uint64_t range, std::size_t)
      : threads_subject<host::stream_pool<Policy>>(
            std::make_shared<addresses>(), std::make_shared<host::no_events>(),
            host::pool_options{.initial_bytes = range, .limit_bytes = range}) {}

 private:
  struct addresses final : host::upstream {
    void* allocate(std::size_t) override { return reinterpret_cast<void*>(base); }
    void deallocate(void*, std::size_t) noexcept override {}
    std::string_view name() const override { return "addresses"; }
  };
};

/// The pool in four parts, which grow from nothing.
template <class Policy>
class divided_subject : public threads_subject<host::divided_pool<Policy>> {
 public:
  divided_subject(std::uint64_t range, std::size_t)
      : threads_subject<host::divided_pool<Policy>>(
            std::make_shared<addresses>(), [] { return std::make_shared<host::no_events>(); }, 4,
            host::pool_options{.limit_bytes = range}) {}

 private:
  // Regions that can grow where they are.
  struct addresses final : host::upstream {
    void* allocate(std::size_t) override {
      return reinterpret_cast<void*>(base + (regions++ << 40));
    }
    void deallocate(void*, std::size_t) noexcept override {}
    bool extend(void*, std::size_t, std::size_t) override { return true; }
    std::string_view name() const override { return "addresses"; }
    host::address regions = 0;
  };
};

#if defined(WARPHEAP_OFFSET_ALLOCATOR)
class offset_allocator_subject {
 public:
  static constexpr bool has_lock = false;
  offset_allocator_subject(std::uint64_t range, std::size_t most_blocks)
      : allocator_(static_cast<std::uint32_t>(range / granule), 2 * most_blocks + 1000) {}
  OffsetAllocator::Allocation allocate(std::uint64_t bytes) {
    return allocator_.allocate(static_cast<std::uint32_t>(ceil_div<std::uint64_t>(bytes, granule)));
  }
  void deallocate(OffsetAllocator::Allocation block) { allocator_.free(block); }
  static std::uint64_t offset(OffsetAllocator::Allocation block) {
    return block.offset != block.NO_SPACE ? std::uint64_t{block.offset} * granule : nowhere;
  }

 private:
  OffsetAllocator::Allocator allocator_;
};

/// The same for callers that keep nothing but an address.
class offset_allocator_map_subject {
 public:
  static constexpr bool has_lock = false;
  offset_allocator_map_subject(std::uint64_t range, std::size_t most_blocks)
      : allocator_(range, most_blocks) {}
  std::uint64_t allocate(std::uint64_t bytes) {
    const OffsetAllocator::Allocation made = allocator_.allocate(bytes);
    const std::uint64_t start = offset_allocator_subject::offset(made);
    if (start != nowhere) blocks_.emplace(start, made);
    return start;
  }
  void deallocate(std::uint64_t start) {
    const auto freed = blocks_.find(start);
    allocator_.deallocate(freed->second);
    blocks_.erase(freed);
  }
  static std::uint64_t offset(std::uint64_t start) { return start; }

 private:
  offset_allocator_subject allocator_;
  std::unordered_map<std::uint64_t, OffsetAllocator::Allocation> blocks_;
};
#endif

#if defined(WARPHEAP_VMA)
/// VMA's virtual block, with its own choice of strategy.
template <VmaVirtualAllocationCreateFlags Strategy>
class vma_subject {
 public:
  static constexpr bool has_lock = false;
  struct block {
    VmaVirtualAllocation handle;
    VkDeviceSize offset;
  };
  vma_subject(std::uint64_t range, std::size_t) {
    const VmaVirtualBlockCreateInfo info{range, 0, nullptr};
    vmaCreateVirtualBlock(&info, &block_);
  }
  ~vma_subject() {
    vmaClearVirtualBlock(block_);
    vmaDestroyVirtualBlock(block_);
  }
  block allocate(std::uint64_t bytes) {
    const VmaVirtualAllocationCreateInfo info{align_up<std::uint64_t>(bytes, granule), granule,
                                              Strategy, nullptr};
    block made{nullptr, nowhere};
    if (vmaVirtualAllocate(block_, &info, &made.handle, &made.offset) != VK_SUCCESS) return {};
    return made;
  }
  void deallocate(block b) { vmaVirtualFree(block_, b.handle); }
  static std::uint64_t offset(block b) { return b.handle != nullptr ? b.offset : nowhere; }

 private:
  VmaVirtualBlock block_ = nullptr;
};
#endif

/// Calls `f(name, type)` for each subject, ours first; `type` is a null pointer to its class.
template <class Function>
void for_each_subject(Function&& f) {
  host::for_each_policy([&](auto policy) {
    using type = typename decltype(policy)::type;
    f(policy.name, static_cast<policy_subject<type>*>(nullptr));
  });
  f("offset_range", static_cast<range_subject*>(nullptr));
  f("range_c", static_cast<range_c_subject*>(nullptr));
  f("tlsf_pool", static_cast<pool_subject<host::tlsf>*>(nullptr));
  f("divided_pool", static_cast<divided_subject<host::tlsf>*>(nullptr));
#if defined(WARPHEAP_OFFSET_ALLOCATOR)
  f("offset_allocator", static_cast<offset_allocator_subject*>(nullptr));
  f("offset_allocator_map", static_cast<offset_allocator_map_subject*>(nullptr));
#endif
#if defined(WARPHEAP_VMA)
  f("vma_time",
    static_cast<vma_subject<VMA_VIRTUAL_ALLOCATION_CREATE_STRATEGY_MIN_TIME_BIT>*>(nullptr));
  f("vma_memory",
    static_cast<vma_subject<VMA_VIRTUAL_ALLOCATION_CREATE_STRATEGY_MIN_MEMORY_BIT>*>(nullptr));
#endif
}

}  // namespace warpheap::bench::host_pools
