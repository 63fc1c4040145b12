// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <boost/context/detail/fcontext.hpp>

#include <cstddef>
#include <cstdint>

namespace warpheap::runtime_detail {

/// Memory for the stacks of many fibers: one mapping, a guard page below each stack.
class stack_pool {
 public:
  /// \throws out_of_memory if the system does not grant the mapping
  stack_pool(std::size_t count, std::size_t bytes_per_stack);
  ~stack_pool();
  stack_pool(const stack_pool&) = delete;
  stack_pool& operator=(const stack_pool&) = delete;

  /// One past the highest byte of stack `index`, moved down by a colour of at most 4 KiB so that
  /// the hot ends of the stacks do not all fall into the same cache sets.
  std::byte* top(std::size_t index) const;
  std::size_t usable_bytes() const { return bytes_per_stack_ - largest_colour; }

 private:
  static constexpr std::size_t largest_colour = 4096;

  std::byte* base_ = nullptr;
  std::size_t stride_;
  std::size_t bytes_per_stack_;
  std::size_t total_;
};

/// A flow of control with its own stack, or (default-constructed) the host thread's flow.
///
/// Boost.Context's public `fiber` unwinds its stack by an exception when it is destroyed. A
/// schedule that is abandoned in the middle of a lane must not run any more of the lane's code, so
/// the layer below is used: a context is simply dropped and recreated on the same stack.
class fiber {
 public:
  using entry_point = void (*)(void*);

  fiber() = default;
  ~fiber();
  fiber(const fiber&) = delete;
  fiber& operator=(const fiber&) = delete;

  /// Gives the fiber a stack and the function that it runs when it is first switched to; whatever
  /// it ran before is dropped. `entry` must never return.
  void start(std::byte* stack_top, std::size_t stack_bytes, entry_point entry, void* argument);

  /// Makes the calling host thread's own stack known to the sanitizers. Called on the default-
  /// constructed fiber that stands for the thread.
  void adopt_thread();

  /// Suspends `from`, which must be the one that is running, and continues with `to`.
  static void switch_to(fiber& from, fiber& to);

 private:
  /// What the target of a switch learns about it; lives on the stack of `from`.
  struct switch_pair {
    fiber* from;
    fiber* to;
  };

  static void trampoline(boost::context::detail::transfer_t transfer);
  static void arrive(boost::context::detail::transfer_t transfer, fiber& self);

  boost::context::detail::fcontext_t context_ = nullptr;
  entry_point entry_ = nullptr;
  void* argument_ = nullptr;
  // What the sanitizers need to follow the switch.
  std::byte* stack_bottom_ = nullptr;
  std::size_t stack_bytes_ = 0;
  void* fake_stack_ = nullptr;
  void* tsan_fiber_ = nullptr;
  bool owns_tsan_fiber_ = false;
};

/// Tells ThreadSanitizer (a no-op without it) that what happened before `release(token)` happens
/// before what follows `acquire(token)`.
void happens_before_release(void* token);
void happens_before_acquire(void* token);

/// While an object of this class exists, ThreadSanitizer does not watch the plain accesses of the
/// running lane: to the runtime's own text, which lanes write one after the other, by string
/// functions that may come from a translation unit that is watched.
class unwatched {
 public:
  unwatched();
  ~unwatched();
  unwatched(const unwatched&) = delete;
  unwatched& operator=(const unwatched&) = delete;
};

}  // namespace warpheap::runtime_detail
