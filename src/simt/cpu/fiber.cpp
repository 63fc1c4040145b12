// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "fiber.hpp"

#include "warpheap/core/align.hpp"
#include "warpheap/core/error.hpp"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>
#include <string>
#include <system_error>

// This file is compiled without instrumentation, so the build says which runtime it is linked to.
#if WARPHEAP_RUNTIME_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#if WARPHEAP_RUNTIME_TSAN
#include <sanitizer/tsan_interface.h>
// The "dynamic annotations" that ThreadSanitizer's runtime understands.
extern "C" {
void AnnotateIgnoreReadsBegin(const char* file, int line);
void AnnotateIgnoreReadsEnd(const char* file, int line);
void AnnotateIgnoreWritesBegin(const char* file, int line);
void AnnotateIgnoreWritesEnd(const char* file, int line);
}
#endif

namespace warpheap::runtime_detail {

namespace context = boost::context::detail;

stack_pool::stack_pool(std::size_t count, std::size_t bytes_per_stack) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  bytes_per_stack_ = round_up(bytes_per_stack, page);
  stride_ = bytes_per_stack_ + page;
  total_ = stride_ * count;
  void* map = mmap(nullptr, total_, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (map == MAP_FAILED) {
    throw out_of_memory("cannot map " + std::to_string(total_) + " bytes for the stacks of " +
                        std::to_string(count) +
                        " lanes: " + std::generic_category().message(errno));
  }
  base_ = static_cast<std::byte*>(map);
  for (std::size_t i = 0; i < count; ++i) {
    if (mprotect(base_ + i * stride_, page, PROT_NONE) != 0) {
      const std::string reason = std::generic_category().message(errno);
      munmap(base_, total_);
      throw out_of_memory("cannot protect the guard page of stack " + std::to_string(i) + " of " +
                          std::to_string(count) + " (each lane needs two mappings; see " +
                          "vm.max_map_count): " + reason);
    }
  }
}

stack_pool::~stack_pool() { munmap(base_, total_); }

std::byte* stack_pool::top(std::size_t index) const {
  constexpr std::size_t step = 192;
  return base_ + (index + 1) * stride_ - index * step % largest_colour / 64 * 64;
}

fiber::~fiber() {
#if WARPHEAP_RUNTIME_TSAN
  if (owns_tsan_fiber_) __tsan_destroy_fiber(tsan_fiber_);
#endif
}

void fiber::start(std::byte* stack_top, std::size_t stack_bytes, entry_point entry,
                  void* argument) {
  stack_bottom_ = stack_top - stack_bytes;
  stack_bytes_ = stack_bytes;
  entry_ = entry;
  argument_ = argument;
  fake_stack_ = nullptr;
#if WARPHEAP_RUNTIME_ASAN
  // A dropped lane leaves poisoned frames behind.
  __asan_unpoison_memory_region(stack_bottom_, stack_bytes);
#endif
#if WARPHEAP_RUNTIME_TSAN
  if (owns_tsan_fiber_) __tsan_destroy_fiber(tsan_fiber_);
  tsan_fiber_ = __tsan_create_fiber(0);
  owns_tsan_fiber_ = true;
#endif
  context_ = context::make_fcontext(stack_top, stack_bytes, &fiber::trampoline);
}

void fiber::adopt_thread() {
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
    void* bottom = nullptr;
    pthread_attr_getstack(&attributes, &bottom, &stack_bytes_);
    stack_bottom_ = static_cast<std::byte*>(bottom);
    pthread_attr_destroy(&attributes);
  }
#if WARPHEAP_RUNTIME_TSAN
  tsan_fiber_ = __tsan_get_current_fiber();
#endif
}

void fiber::switch_to(fiber& from, fiber& to) {
#if WARPHEAP_RUNTIME_ASAN
  __sanitizer_start_switch_fiber(&from.fake_stack_, to.stack_bottom_, to.stack_bytes_);
#endif
#if WARPHEAP_RUNTIME_TSAN
  __tsan_switch_to_fiber(to.tsan_fiber_, __tsan_switch_to_fiber_no_sync);
#endif
  switch_pair pair{&from, &to};
  arrive(context::jump_fcontext(to.context_, &pair), from);
}

void fiber::arrive(context::transfer_t transfer, [[maybe_unused]] fiber& self) {
  static_cast<switch_pair*>(transfer.data)->from->context_ = transfer.fctx;
#if WARPHEAP_RUNTIME_ASAN
  __sanitizer_finish_switch_fiber(self.fake_stack_, nullptr, nullptr);
#endif
}

void fiber::trampoline(context::transfer_t transfer) {
  fiber& self = *static_cast<switch_pair*>(transfer.data)->to;
  arrive(transfer, self);
  self.entry_(self.argument_);
  __builtin_unreachable();
}

unwatched::unwatched() {
#if WARPHEAP_RUNTIME_TSAN
  AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
  AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
#endif
}

unwatched::~unwatched() {
#if WARPHEAP_RUNTIME_TSAN
  AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
  AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
#endif
}

void happens_before_release([[maybe_unused]] void* token) {
#if WARPHEAP_RUNTIME_TSAN
  __tsan_release(token);
#endif
}

void happens_before_acquire([[maybe_unused]] void* token) {
#if WARPHEAP_RUNTIME_TSAN
  __tsan_acquire(token);
#endif
}

}  // namespace warpheap::runtime_detail
