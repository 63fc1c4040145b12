// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// The outcomes of litmus tests on a GPU: in each launch, millions of instances with words of their
/// own, whose threads run at once.
///
/// The threads of an instance lie in blocks that meet before each instance, as far as the device
/// runs them together, and then start after short waits drawn by seed. Some warps take hints of all
/// words before they meet, so that the multiprocessor's cache has the old values. Launches differ
/// in how words share cache lines, whether blocks of an instance are neighbours (which run on
/// different multiprocessors) or not, and how long lanes wait. The order of all that is in no
/// instance's program: it only makes outcomes likely.

#include "litmus_words.hpp"

#include "device_array.hpp"
#include "machine.hpp"

#include "warpheap/core/bits.hpp"
#include "warpheap/core/hash.hpp"

#include <gtest/gtest.h>
#include <array>
#include <cstdint>
#include <cstdio>
#include <map>
#include <string>
#include <utility>

WARPHEAP_BEGIN_NAMESPACE
namespace test {

/// How the instances of a launch lie and run. The instances are numbered.
struct instances {
  std::uint32_t teams;     ///< of blocks, one for each block of the litmus test
  std::uint32_t per_team;  ///< instances that a team runs at once
  std::uint32_t laps;      ///< how often each team does so
  std::uint64_t seed;
  bool scattered = false;       ///< the words of one lane and the next are far apart
  bool together = false;        ///< x and y of an instance are neighbours
  bool neighbours = false;      ///< the blocks of a team are
  std::uint32_t most_wait = 0;  ///< ticks that a warp waits at most after its block has met others

  WARPHEAP_HD std::uint32_t count() const { return teams * per_team * laps; }
  /// A power of two, and at least as many as there are instances.
  WARPHEAP_HD std::uint32_t places() const { return 2u << floor_log2(count()); }

  /// The place of word `word` (0: x, 1: y) of an instance among `2 * places()` words.
  WARPHEAP_DEVICE std::uint32_t place(std::uint32_t instance, std::uint32_t word) const {
    const std::uint32_t own = instance * (scattered ? 40'503u : 1u) & (places() - 1);
    return together ? 2 * own + word : own + word * places();
  }
};

/// Between stores to one word, of which ptxas drops all but the last if they follow each other.
WARPHEAP_DEVICE inline void keep_apart() { simt::backoff(1); }

/// What an instance of a litmus test is to the lane that runs a thread of it.
struct instance_state {
  cell& x;
  cell& y;
  int r[4] = {};
};

/// Runs all instances of a litmus test once.
template <class Program>
struct play_instances {
  Program program;
  instances how;
  cell* words;
  /// The registers of each instance, 2 bits each.
  std::uint32_t* registers;
  /// How often blocks of each team have come to meet; one more word counts what went on without the
  /// others.
  std::uint32_t* arrivals;

  WARPHEAP_DEVICE void operator()() const {
    constexpr std::uint32_t blocks = Program::blocks;
    constexpr std::uint32_t lanes = Program::lanes;
    const std::uint32_t block = simt::block_rank();
    const std::uint32_t team = how.neighbours ? block / blocks : block % how.teams;
    const std::uint32_t role = how.neighbours ? block % blocks : block / how.teams;
    const std::uint32_t rank = simt::thread_in_block();
    const auto thread = static_cast<int>(role * lanes + rank % lanes);
    for (std::uint32_t lap = 0; lap < how.laps; ++lap) {
      const std::uint32_t instance = (lap * how.teams + team) * how.per_team + rank / lanes;
      const std::uint64_t warp =
          (std::uint64_t{lap} << 40) + (std::uint64_t{block} << 8) + rank / simt::warp_size;
      const std::uint64_t drawn = mix64(how.seed + warp);
      instance_state s{words[how.place(instance, 0)], words[how.place(instance, 1)]};
      // ptxas drops hints whose values nothing needs. Here they are zero, unless a block was late.
      if ((drawn & 3) != 0) {
        const bool is_late = simt::warp().any(s.x.hint() + s.y.hint() != 0);
        if (is_late && rank == 0) note_alone();
      }
      meet(team, blocks * (lap + 1));
      wait(static_cast<std::uint32_t>(drawn >> 32));
      program.lane(s, thread);
      std::uint32_t read = 0;
      for (int i = 0; i < 4; ++i) read |= static_cast<std::uint32_t>(s.r[i]) << 2 * i;
      if (read != 0) simt::atomic_ref(registers[instance]).fetch_add(read, relaxed);
    }
  }

 private:
  /// Waits, but not for long, until `blocks` blocks of the team have come here.
  WARPHEAP_DEVICE void meet(std::uint32_t team, std::uint32_t blocks) const {
    constexpr int most_looks = 20'000;
    simt::block_sync();
    if (simt::thread_in_block() == 0) {
      const simt::atomic_ref here(arrivals[team]);
      here.fetch_add(1u, relaxed);
      int looks = 0;
      while (here.load(relaxed) < blocks && looks < most_looks) ++looks;
      if (looks == most_looks) note_alone();
    }
    simt::block_sync();
  }

  WARPHEAP_DEVICE void note_alone() const {
    simt::atomic_ref(arrivals[how.teams]).fetch_add(1u, relaxed);
  }

  WARPHEAP_DEVICE void wait(std::uint32_t drawn) const {
    const std::uint64_t ticks = std::uint64_t{drawn} * how.most_wait >> 32;
    const std::uint64_t start = simt::ticks();
    while (simt::ticks() - start < ticks) {
    }
  }
};

/// An outcome by what is seen of it: the registers, and the words in the end, where 3 is 3 or more.
struct seen_code {
  static constexpr std::uint32_t count = 1u << 12;
  WARPHEAP_HD static std::uint32_t of(std::uint32_t registers, int x, int y) {
    return registers | (x < 3 ? x : 3) << 8 | (y < 3 ? y : 3) << 10;
  }
  /// A state with that outcome.
  static litmus state(std::uint32_t code) {
    const auto part = [code](int bit) { return static_cast<int>(code >> bit & 3); };
    return {cell(part(8)), cell(part(10)), {part(0), part(2), part(4), part(6)}};
  }
};

/// Counts the instances of each outcome. A launch has as many lanes as there are instances.
struct count_instances {
  instances how;
  const cell* words;
  const std::uint32_t* registers;
  std::uint64_t* counts;

  WARPHEAP_DEVICE void operator()() const {
    const auto instance = static_cast<std::uint32_t>(simt::thread_rank());
    const std::uint32_t code =
        seen_code::of(registers[instance], words[how.place(instance, 0)].final(),
                      words[how.place(instance, 1)].final());
    const simt::group alike = simt::warp().match(code);
    if (alike.is_leader()) {
      simt::atomic_ref(counts[code]).fetch_add(static_cast<std::uint64_t>(alike.size()), relaxed);
    }
  }
};

/// How many instances had each outcome.
struct instance_counts {
  std::map<outcome, std::uint64_t> seen;
  std::uint64_t instances = 0;
  /// How often blocks were to meet, and how often one went on alone.
  std::uint64_t meetings = 0;
  std::uint64_t alone = 0;
};

template <class Program>
class instance_runs {
 public:
  instance_runs(const Program& program, const instances& how)
      : program_(program),
        how_(how),
        words_(std::size_t{2} * how.places()),
        registers_(how.count()),
        arrivals_(how.teams + 1),
        counts_(seen_code::count) {}

  /// One launch. `how` has the shape that the constructor was given.
  void run(const instances& how) {
    machine().fill(words_.get(), 0, words_.size() * sizeof(cell));
    machine().fill(registers_.get(), 0, registers_.size() * sizeof(std::uint32_t));
    machine().fill(arrivals_.get(), 0, arrivals_.size() * sizeof(std::uint32_t));
    machine().launch(
        {Program::blocks * how.teams, how.per_team * Program::lanes},
        play_instances<Program>{program_, how, words_.get(), registers_.get(), arrivals_.get()});
    machine().launch(simt::grid::covering(how.count()),
                     count_instances{how, words_.get(), registers_.get(), counts_.get()});
    total_.instances += how.count();
    total_.meetings += std::uint64_t{Program::blocks} * how.teams * how.laps;
    total_.alone += arrivals_.read().back();
  }

  instance_counts result() const {
    instance_counts all = total_;
    const auto counts = counts_.read();
    for (std::uint32_t code = 0; code < counts.size(); ++code) {
      if (counts[code] != 0) all.seen[Program::observed(seen_code::state(code))] += counts[code];
    }
    return all;
  }

 private:
  Program program_;
  instances how_;
  device_array<cell> words_;
  device_array<std::uint32_t> registers_;
  device_array<std::uint32_t> arrivals_;
  device_array<std::uint64_t> counts_;
  instance_counts total_;
};

inline std::string text_of(const outcome& one) {
  std::string text;
  for (const int value : one) text += (text.empty() ? "{" : ", ") + std::to_string(value);
  return text + "}";
}

/// What the counts contradict: an outcome that is not allowed, or that threads ran at once. Empty
/// if nothing.
inline std::string wrong_with(const instance_counts& counts, const outcomes& interleaved,
                              const outcomes& weak) {
  std::string why;
  std::uint64_t all = 0;
  for (const auto& [one, times] : counts.seen) {
    all += times;
    if (interleaved.contains(one) || weak.contains(one)) continue;
    why += text_of(one) + " is forbidden and was seen " + std::to_string(times) + " times; ";
  }
  if (all != counts.instances) why += "instances were lost; ";
  if (counts.seen.size() < 2) why += "all instances had one outcome: threads never ran at once; ";
  if (counts.alone > counts.meetings / 2) why += "most blocks never met the others of their team; ";
  return why;
}

inline void print(const char* what, const instance_counts& counts, const outcomes& interleaved,
                  const outcomes& weak) {
  std::printf("  %s: %llu instances\n", what, static_cast<unsigned long long>(counts.instances));
  for (const auto& [kind, set] :
       {std::pair{"interleaved", &interleaved}, std::pair{"weak", &weak}}) {
    for (const outcome& one : *set) {
      const auto found = counts.seen.find(one);
      const std::uint64_t times = found == counts.seen.end() ? 0 : found->second;
      std::printf(
          "    %-11s %s %s %llu\n", kind, text_of(one).c_str(),
          times == 0 ? "allowed, NOT seen:" : "seen:", static_cast<unsigned long long>(times));
    }
  }
  if (weak.empty()) std::printf("    no weak outcome is allowed\n");
  std::fflush(stdout);
}

/// A litmus test that the explorer has as well (litmus_schedules.hpp). No instance may have an
/// outcome that is not allowed; which of the weak ones a GPU shows is printed and not judged.
template <class Program>
void expect_outcomes(const char* what, const Program& program, const outcomes& interleaved,
                     const outcomes& weak) {
  instances how{.teams = machine().properties().multiprocessors,
                .per_team = 256 / Program::lanes,
                .laps = 64,
                .seed = 0};
  instance_runs<Program> runs(program, how);
  constexpr std::array<std::uint32_t, 4> waits{0, 300, 1500, 6000};
  for (std::uint32_t launch = 0; launch < 64; ++launch) {
    how.seed = mix64(launch + 1);
    how.scattered = (launch & 1) != 0;
    how.together = (launch & 2) != 0;
    how.neighbours = (launch & 4) != 0;
    how.most_wait = waits[launch / 8 % waits.size()];
    runs.run(how);
  }
  const instance_counts found = runs.result();
  print(what, found, interleaved, weak);
  EXPECT_EQ(wrong_with(found, interleaved, weak), "") << what;
}

}  // namespace test
WARPHEAP_END_NAMESPACE
