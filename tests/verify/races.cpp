// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "races.hpp"

#include "warpheap/simt/cpu/lane.hpp"

#if WARPHEAP_THREAD_SANITIZER
#include <array>
#include <cstddef>
#include <cstdio>

extern "C" {
// Of ThreadSanitizer's runtime (tsan_debugging.cpp, sanitizer_common).
int __tsan_get_report_data(void* report, const char** description, int* count, int* stack_count,
                           int* mop_count, int* loc_count, int* mutex_count, int* thread_count,
                           int* unique_tid_count, void** sleep_trace, unsigned long trace_size);
int __tsan_get_report_mop(void* report, unsigned long index, int* thread, void** address, int* size,
                          int* write, int* atomic, void** trace, unsigned long trace_size);
void __sanitizer_symbolize_pc(void* pc, const char* format, char* out, std::size_t size);

/// Every race of every schedule is a finding, whether or not another one looked like it; the exit
/// code is that of the program.
const char* __tsan_default_options() {
  return "exitcode=0:suppress_equal_stacks=0:suppress_equal_addresses=0:report_bugs=1";
}
void __tsan_on_report(void* report);
}

namespace {

struct access {
  void* where = nullptr;
  int bytes = 0;
  bool writes = false;
  bool atomic = false;
};

// Plain: ThreadSanitizer calls `__tsan_on_report` in the middle of an access of a lane.
struct {
  bool there = false;
  std::array<char, 64> kind{};
  std::array<access, 2> accesses{};
} first;

}  // namespace

__attribute__((no_sanitize("thread"))) void __tsan_on_report(void* report) {
  if (first.there) return;
  first.there = true;
  const char* kind = "";
  int count = 0;
  int mops = 0;
  int other = 0;
  void* sleep[1];
  __tsan_get_report_data(report, &kind, &count, &other, &mops, &other, &other, &other, &other,
                         sleep, 0);
  std::snprintf(first.kind.data(), first.kind.size(), "%s", kind);
  for (int i = 0; i < 2; ++i) {
    first.accesses[i] = {};
    if (i >= mops) continue;
    int thread = 0;
    int write = 0;
    int atomic = 0;
    void* address = nullptr;
    std::array<void*, 1> trace{};
    __tsan_get_report_mop(report, static_cast<unsigned long>(i), &thread, &address,
                          &first.accesses[i].bytes, &write, &atomic, trace.data(), trace.size());
    first.accesses[i].where = trace[0];
    first.accesses[i].writes = write != 0;
    first.accesses[i].atomic = atomic != 0;
  }
}
#endif

WARPHEAP_BEGIN_NAMESPACE
namespace verify {

#if WARPHEAP_THREAD_SANITIZER
std::string race_since_last_call() {
  if (!first.there) return "";
  first.there = false;
  std::string text = first.kind.data();
  const char* before = ": ";
  for (const auto& [where, bytes, writes, atomic] : first.accesses) {
    if (where == nullptr) continue;
    std::array<char, 512> place{};
    __sanitizer_symbolize_pc(where, "%f at %s:%l", place.data(), place.size());
    text += before;
    text += std::string(atomic ? "atomic " : "") + (writes ? "write" : "read") + " of " +
            std::to_string(bytes) + " bytes in " + place.data();
    before = "\n  against: ";
  }
  return text;
}
#else
std::string race_since_last_call() { return ""; }
#endif

}  // namespace verify
WARPHEAP_END_NAMESPACE
