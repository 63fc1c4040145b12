// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "warp.hpp"

#include "warpheap/core/hash.hpp"
#include "warpheap/simt/cpu/device.hpp"

#include <sys/mman.h>
#include <unistd.h>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <exception>
#include <list>
#include <mutex>
#include <string>
#include <thread>

namespace warpheap {

namespace runtime_detail {
namespace {

/// The state that all workers of a launch share.
struct launch_state {
  simt::grid shape;
  lane_program program;
  std::uint64_t seed = 0;
  std::atomic<std::uint32_t> next_block{0};
  std::atomic<bool> abandoned{false};
  std::mutex error_lock;
  std::string error;
};

/// A host thread with the blocks that are resident on it. Takes turns over their warps.
class worker final : public scheduler {
 public:
  explicit worker(const simt::cpu_options& options, std::uint32_t multiprocessors)
      : options_(options), multiprocessors_(multiprocessors) {}

  /// Runs blocks of `launch` until there are none left. Called on the worker's thread.
  void run(launch_state& launch) {
    current_scheduler = this;
    launch_ = &launch;
    host_.adopt_thread();
    prepare(launch.shape);
    turns_without_exit_ = 0;
    bool any = true;
    while (any && !launch.abandoned.load(std::memory_order_relaxed)) {
      any = false;
      bool progressed = false;
      for (block& b : kept_.front().blocks) {
        if (b.live == 0 && !load_next(b)) continue;
        any = true;
        for (warp& w : b.warps) progressed |= take_turn(w);
      }
      if (any && !progressed) {
        give_up("deadlock: every lane waits for another one");
      } else if (any && ++turns_without_exit_ > options_.turn_limit) {
        give_up("no lane has ended for " + std::to_string(options_.turn_limit) +
                " turns (cpu_options::turn_limit)");
      }
    }
    happens_before_acquire(&host_);
    if (launch.abandoned.load(std::memory_order_relaxed)) {
      kept_.pop_front();  // lanes stopped halfway: their stacks start anew
    }
    launch_ = nullptr;
    current_scheduler = nullptr;
  }

  void out_of_fuel(lane& me) override { rest(me); }
  void give_way(lane& me) override { rest(me); }
  void before_collective(lane&) override {}

  void suspend(lane& me) override {
    // For a lane that is never resumed: only the host, not other lanes, comes after what it did.
    happens_before_release(&host_);
    // Straight on to the next lane of the same warp, if one is ready.
    warp& w = *me.home;
    if (w.ready.empty()) {
      simt::runtime::here.lane = nullptr;
      fiber::switch_to(me.flow, host_);
    } else {
      lane& next = take_ready(w);
      if (&next != &me) fiber::switch_to(me.flow, next.flow);
    }
  }

 private:
  // A turn ends after this many group formations, so that lanes that meet again and again while
  // they wait for another warp cannot keep that warp from running.
  static constexpr int formations_per_turn = 64;

  static void lane_main(void* argument) {
    lane& me = *static_cast<lane*>(argument);
    for (;;) {
      auto& self = static_cast<worker&>(*current_scheduler);
      happens_before_acquire(self.launch_);
      self.launch_->program.run(self.launch_->program.functor);
      happens_before_release(self.launch_);
      self.turns_without_exit_ = 0;
      me.home->exit(me);
      self.suspend(me);
    }
  }

  lane& take_ready(warp& w) {
    const int number = w.ready.lowest();
    w.ready = w.ready.without(number);
    lane& next = w.lanes[number];
    simt::runtime::here.lane = &next;
    simt::runtime::here.fuel = options_.fuel;
    return next;
  }

  void rest(lane& me) {
    me.home->resting = me.home->resting | lane_mask::of(static_cast<int>(me.number));
    suspend(me);
  }

  /// Runs the warp's lanes until all of them wait or have given way; true if any ran.
  bool take_turn(warp& w) {
    bool progressed = false;
    w.ready = w.ready | w.resting;
    w.resting = lane_mask{};
    for (int formations = 0; formations < formations_per_turn; ++formations) {
      while (!w.ready.empty()) {
        progressed = true;
        fiber::switch_to(host_, take_ready(w).flow);
      }
      if (w.wants_group.empty()) break;
      // No lane of the warp can run: the lanes at the same call are a group. Lanes that rest do
      // not hold this up, so a lane that spins never keeps the others from converging.
      progressed = true;
      w.form_all();
    }
    return progressed;
  }

  bool load_next(block& b) {
    const std::uint32_t rank = launch_->next_block.fetch_add(1, std::memory_order_relaxed);
    if (rank >= launch_->shape.blocks) {
      launch_->next_block.store(launch_->shape.blocks, std::memory_order_relaxed);
      return false;
    }
    // Block-shared memory is written here: after the lanes of the block before, and before those of
    // this one, which release and acquire the launch.
    happens_before_acquire(launch_);
    load_block(b, rank, launch_->shape, rank % multiprocessors_, launch_->seed);
    happens_before_release(launch_);
    return true;
  }

  /// Blocks of one shape that are resident together, with their lanes' stacks.
  struct residents {
    simt::grid shape;
    std::unique_ptr<stack_pool> stacks;
    std::vector<block> blocks;
  };

  /// Makes residents of the shape the current ones. Those of a few shapes are kept, because
  /// creating a lane takes long if sanitizers must be told about it.
  void prepare(const simt::grid& shape) {
    constexpr std::size_t most_kept = 4;
    const std::size_t wanted = std::min<std::size_t>(options_.resident_blocks, shape.blocks);
    for (auto at = kept_.begin(); at != kept_.end(); ++at) {
      if (at->shape.threads_per_block != shape.threads_per_block ||
          at->shape.shared_bytes != shape.shared_bytes) {
        continue;
      }
      if (at->blocks.size() < wanted) {
        kept_.erase(at);
        break;
      }
      kept_.splice(kept_.begin(), kept_, at);
      return;
    }
    while (kept_.size() >= most_kept) kept_.pop_back();
    auto stacks =
        std::make_unique<stack_pool>(wanted * shape.threads_per_block, options_.stack_bytes);
    kept_.push_front({shape, std::move(stacks), std::vector<block>(wanted)});
    residents& made = kept_.front();
    for (std::size_t i = 0; i < wanted; ++i) {
      build_block(made.blocks[i], shape, *made.stacks, i * shape.threads_per_block,
                  &worker::lane_main);
    }
  }

  void give_up(const std::string& why) {
    const std::lock_guard guard(launch_->error_lock);
    launch_->error += why + "\n";
    for (const block& b : kept_.front().blocks) {
      if (b.live != 0) launch_->error += describe_waiting(b);
    }
    launch_->abandoned.store(true, std::memory_order_relaxed);
  }

  simt::cpu_options options_;
  std::uint32_t multiprocessors_;
  fiber host_;
  launch_state* launch_ = nullptr;
  std::list<residents> kept_;  // the current ones first, then by last use
  std::uint64_t turns_without_exit_ = 0;
};

/// Name and version, as in "g++ 12.2.0".
std::string compiler() {
#if defined(__clang__)
  constexpr const char* name = "clang++ ";
  constexpr int version[] = {__clang_major__, __clang_minor__, __clang_patchlevel__};
#elif defined(__GNUC__)
  constexpr const char* name = "g++ ";
  constexpr int version[] = {__GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__};
#else
  constexpr const char* name = "unknown compiler ";
  constexpr int version[] = {0};
#endif
  std::string text = name;
  for (const int number : version) text += std::to_string(number) + '.';
  text.pop_back();
  return text;
}

}  // namespace
}  // namespace runtime_detail

inline namespace WARPHEAP_MODEL {
namespace simt {
namespace runtime {

/// Persistent host threads that run one launch at a time. A lane's fiber stays on the thread that
/// it was started on, because the compiler may keep the address of thread-local state in a frame.
class executor {
 public:
  explicit executor(const cpu_options& options) : options_(options) {
    if (options_.workers == 0) options_.workers = std::max(2u, std::thread::hardware_concurrency());
    if (options_.resident_blocks == 0) {
      throw invalid_argument("cpu_options::resident_blocks is 0; at least 1 is needed");
    }
#if WARPHEAP_RUNTIME_TSAN
    options_.resident_blocks = 1;  // a lane costs ThreadSanitizer 850 KiB
#endif
    properties_.backend = "cpu";
    properties_.name = "CPU model, " + std::to_string(options_.workers) + " host threads";
    properties_.memory_bytes = static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) *
                               static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    // More than the workers, so that the state that managers keep per multiprocessor is exercised.
    properties_.multiprocessors = 4;
    properties_.resident_threads = options_.workers * options_.resident_blocks * 256;
    properties_.toolkit = runtime_detail::compiler();
    for (unsigned i = 0; i < options_.workers; ++i) {
      threads_.emplace_back([this, i] { serve(i); });
    }
  }

  ~executor() {
    {
      const std::lock_guard guard(lock_);
      stopping_ = true;
    }
    wake_.notify_all();
    for (std::thread& t : threads_) t.join();
  }

  executor(const executor&) = delete;
  executor& operator=(const executor&) = delete;

  void launch(const grid& shape, void (*run)(const void*), const void* functor) {
    if (shape.threads_per_block == 0 || shape.threads_per_block > 1024) {
      throw invalid_argument("a block of " + std::to_string(shape.threads_per_block) +
                             " threads: 1 to 1024 are possible");
    }
    if (shape.blocks == 0) return;
    const std::lock_guard one_at_a_time(launch_lock_);
    runtime_detail::launch_state state;
    state.shape = shape;
    state.program = {run, functor};
    state.seed = mix64(++launches_);
    runtime_detail::happens_before_release(&state);
    std::unique_lock guard(lock_);
    launch_ = &state;
    // A worker without a block has nothing to do: do not wake more than there are blocks.
    active_ = std::min<unsigned>(options_.workers, shape.blocks);
    running_ = active_;
    ++generation_;
    wake_.notify_all();
    done_.wait(guard, [this] { return running_ == 0; });
    launch_ = nullptr;
    runtime_detail::happens_before_acquire(&state);
    if (!state.error.empty()) throw no_progress(state.error);
  }

  const device_properties& properties() const { return properties_; }

 private:
  void serve(unsigned index) {
    runtime_detail::worker worker(options_, properties_.multiprocessors);
    std::uint64_t seen = 0;
    for (;;) {
      runtime_detail::launch_state* state = nullptr;
      {
        std::unique_lock guard(lock_);
        wake_.wait(guard, [&] { return stopping_ || generation_ != seen; });
        if (stopping_) return;
        seen = generation_;
        if (index >= active_) continue;
        state = launch_;
      }
      try {
        worker.run(*state);
      } catch (const std::exception& failure) {  // no memory for stacks
        const std::lock_guard guard(state->error_lock);
        state->error += std::string(failure.what()) + "\n";
        state->abandoned = true;
      }
      const std::lock_guard guard(lock_);
      if (--running_ == 0) done_.notify_one();
    }
  }

  cpu_options options_;
  device_properties properties_;
  std::mutex launch_lock_;
  std::mutex lock_;
  std::condition_variable wake_;
  std::condition_variable done_;
  std::vector<std::thread> threads_;
  runtime_detail::launch_state* launch_ = nullptr;
  std::uint64_t launches_ = 0;
  std::uint64_t generation_ = 0;
  unsigned active_ = 0;
  unsigned running_ = 0;
  bool stopping_ = false;
};

void launch(executor& on, const grid& shape, void (*run)(const void*), const void* functor) {
  on.launch(shape, run, functor);
}

}  // namespace runtime

device device::cpu(const cpu_options& options) {
  return device(std::make_shared<runtime::executor>(options));
}

device device::cuda(int ordinal) {
  throw invalid_argument("CUDA device " + std::to_string(ordinal) +
                         " is not available here: this program was compiled without nvcc");
}

const device_properties& device::properties() const { return executor_->properties(); }

void* device::allocate(std::size_t bytes) const {
  const std::size_t there = properties().memory_bytes;
  void* map = bytes == 0 || bytes > there
                  ? MAP_FAILED
                  : mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (map == MAP_FAILED) {
    throw out_of_memory("cannot allocate " + std::to_string(bytes) + " bytes: " +
                        properties().name + " has " + std::to_string(there) + " bytes of memory");
  }
  return map;
}

void device::deallocate(void* pointer, std::size_t bytes) const noexcept { munmap(pointer, bytes); }

void device::copy_to_host(void* host, const void* on_device, std::size_t bytes) const {
  std::memcpy(host, on_device, bytes);
}

void device::copy_to_device(void* on_device, const void* host, std::size_t bytes) const {
  std::memcpy(on_device, host, bytes);
}

void device::fill(void* on_device, std::uint8_t byte, std::size_t bytes) const {
  std::memset(on_device, byte, bytes);
}

double device::now_ms() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double, std::milli>(now).count();
}

}  // namespace simt
}  // namespace WARPHEAP_MODEL
}  // namespace warpheap
