// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Inspections of damaged heaps: whatever the words of a region are, inspection ends, stays within
/// the region, and changes nothing.
#include "exploration.hpp"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>
#include <optional>
#include <random>
#include <utility>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace verify {

namespace {

/// A change takes up to 180 microseconds under AddressSanitizer on a quiet machine, and a processor
/// that is shared may take several times as long. What takes ten times as long has no end.
constexpr std::size_t changes_a_second = 500;

/// Managers whose heaps are not damaged, and why.
constexpr std::array<std::pair<const char*, const char*>, 1> left_out{
    {{"arena", "its links are addresses in a heap of which it does not know where it lies"}}};

bool has_reason(const subject& manager) {
  return std::any_of(left_out.begin(), left_out.end(),
                     [&](const auto& one) { return manager.name == one.first; });
}

/// How many changes of single words inspection has seen. Every fourth one makes all bits of the
/// word random, the others turn one bit.
std::uint64_t changes_seen(const damaged_heap& heap, int times, std::mt19937& draw) {
  std::uint64_t seen = 0;
  for (int i = 0; i < times; ++i) {
    for (std::uint32_t& word : heap.words) {
      const std::uint32_t kept = word;
      word = i % 4 == 3 ? static_cast<std::uint32_t>(draw()) : kept ^ 1u << draw() % 32;
      inspection found;
      heap.inspect(found);
      word = kept;
      if (std::any_of(std::begin(found.violations), std::end(found.violations),
                      [](std::uint64_t count) { return count != 0; })) {
        ++seen;
      }
    }
  }
  return seen;
}

/// Whether inspection has left the heap as it was.
bool damage(const subject& manager, const damaged_heap& heap, int times) {
  std::mt19937 draw(1);
  std::uint64_t seen = 0;
  const auto words = heap.words;
  // Empty after the case's lanes have used and freed everything, and with blocks in use.
  for (const bool in_use : {false, true}) {
    if (in_use) heap.populate();
    const std::vector<std::uint32_t> before(words.begin(), words.end());
    seen += changes_seen(heap, times, draw);
    if (!std::equal(before.begin(), before.end(), words.begin())) {
      std::printf("%s: inspection has changed the heap\n", manager.name.c_str());
      return false;
    }
  }
  std::printf("ok     %-24s %8zu changes, %8llu seen\n", manager.name.c_str(),
              2 * words.size() * static_cast<std::size_t>(times),
              static_cast<unsigned long long>(seen));
  return true;
}

/// In a process of its own, which may crash and whose seconds of the processor are counted.
bool damage_apart(const subject& manager, int times) {
  std::unique_ptr<scenario> used;
  std::optional<damaged_heap> heap;
  for (auto test = manager.cases.begin(); test != manager.cases.end() && !heap; ++test) {
    used = test->make();
    heap = used->damaged();
  }
  if (!heap) {
    std::printf("FAILED %-24s no case has a heap to damage\n", manager.name.c_str());
    return false;
  }
  used->run({simt::strategy::uniform, 1}, nullptr);
  std::fflush(stdout);
  const pid_t child = fork();
  if (child < 0) throw error("no process could be started for a manager");
  if (child == 0) {
    const std::size_t changes = 2 * heap->words.size() * static_cast<std::size_t>(times);
    const rlim_t most_seconds = 2 + changes / changes_a_second;
    const rlimit limit{most_seconds, most_seconds + 1};
    setrlimit(RLIMIT_CPU, &limit);
    const bool sound = damage(manager, *heap, times);
    std::fflush(stdout);
    _exit(sound ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return true;
  std::printf("FAILED %-24s ended by %s %d\n", manager.name.c_str(),
              WIFEXITED(status) ? "exit code" : "signal",
              WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
  return false;
}

}  // namespace

int damage_managers(const selection& only, int times) {
  if (!only.subject.empty()) find_subject(only.subject);
  int failures = 0;
  for (const subject& s : catalogue()) {
    if (s.kind != subject_kind::manager || has_reason(s)) continue;
    if (!only.subject.empty() && s.name != only.subject) continue;
    if (!damage_apart(s, times)) ++failures;
  }
  std::printf("%d managers cannot be inspected when damaged\n", failures);
  return failures == 0 ? 0 : 1;
}

}  // namespace verify
WARPHEAP_END_NAMESPACE
