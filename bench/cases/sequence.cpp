// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/host/support.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace warpheap::bench {

namespace {

constexpr field<double> slowest_malloc_ms{
    {.name = "slowest_malloc_ms",
     .unit = "ms",
     .about = "malloc of the size that takes longest, median of the warm runs",
     .better = "less"}};
constexpr field<std::uint64_t> slowest_malloc_size{
    {.name = "slowest_malloc_size",
     .unit = "bytes",
     .about = "that size; of mixed sizes, the largest",
     .role = field_role::detail}};
constexpr field<double> slowest_free_ms{
    {.name = "slowest_free_ms",
     .unit = "ms",
     .about = "free of the size that takes longest, median of the warm runs",
     .better = "less"}};
constexpr field<std::uint64_t> slowest_free_size{{.name = "slowest_free_size",
                                                  .unit = "bytes",
                                                  .about = "that size; of mixed sizes, the largest",
                                                  .role = field_role::detail}};

constexpr field<double> malloc_over_fresh{
    {.name = "malloc_over_fresh",
     .unit = "times",
     .about = "malloc over that of a heap which has seen no other size, medians; of the turn that "
              "suffers most",
     .better = "less"}};
constexpr field<std::string> malloc_over_fresh_of{{.name = "malloc_over_fresh_of",
                                                   .about = "the sizes of that turn",
                                                   .role = field_role::detail}};
constexpr field<double> free_over_fresh{
    {.name = "free_over_fresh", .unit = "times", .about = "free, likewise", .better = "less"}};
constexpr field<std::string> free_over_fresh_of{
    {.name = "free_over_fresh_of", .about = "the sizes of that turn", .role = field_role::detail}};

constexpr parameter<std::string_view> turns{
    {.name = "turns",
     .about =
         "'powers': of two; 'any': then sizes in between, then all sizes mixed, and the powers "
         "of two from the largest down",
     .role = field_role::facet,
     .phrase = "sizes in turn: {}"},
    {.choices = {"powers", "any"}},
    "powers"};

/// What all requests of a turn ask for: one size, or any from `least` to `most`.
struct sizes_of_turn {
  std::uint64_t least;
  std::uint64_t most;

  std::string text() const {
    return std::to_string(least) + (least == most ? "" : " to " + std::to_string(most)) + " B";
  }
};

std::vector<sizes_of_turn> all_turns(const parameters& chosen) {
  const std::uint64_t least = chosen[given::size_min];
  const std::uint64_t most = chosen[given::size_max];
  std::vector<sizes_of_turn> powers;
  for (std::uint64_t size = least; size <= most; size *= 2) powers.push_back({size, size});
  std::vector<sizes_of_turn> all = powers;
  if (chosen[turns] == "any") {
    for (const sizes_of_turn& power : powers) {
      for (const std::uint64_t size : {power.least * 5 / 4, power.least * 3 / 2}) {
        if (size <= most) all.push_back({size, size});
      }
    }
    all.push_back({least, most});
    all.insert(all.end(), powers.rbegin(), powers.rend());
  }
  return all;
}

/// The medians of the warm launches of one turn, the longest of all, and how much longer they take
/// than in a heap of their own.
struct turn_times {
  sizes_of_turn sizes;
  double malloc_ms = 0;
  double free_ms = 0;
  double longest_ms = 0;
  double malloc_over_fresh = 0;
  double free_over_fresh = 0;
};

turn_times measure_turn(const case_run& c, test_heap& heap, sizes_of_turn sizes, tally& wrong) {
  request_batch batch = batch_of(c.chosen, c.chosen[given::threads]);
  batch.size_min = sizes.least;
  batch.size_max = sizes.most;
  const block_table blocks(c.on, batch);
  const batch_times took = serve_and_free(c, heap, blocks, wrong);
  return {sizes, summarize_warm(took.malloc_ms).median, summarize_warm(took.free_ms).median,
          longest_of({took.malloc_ms, took.free_ms})};
}

/// One turn after another in one heap, and then each in a heap of its own: how much the sizes
/// before slow a size down.
measurement measure_sequence(const case_run& c) {
  tally wrong;
  std::vector<turn_times> in_turn;
  {
    const auto heap = open_heap(c);
    for (const sizes_of_turn& sizes : all_turns(c.chosen)) {
      in_turn.push_back(measure_turn(c, *heap, sizes, wrong));
    }
  }
  for (turn_times& used : in_turn) {
    const auto heap = open_heap(c);
    const turn_times fresh = measure_turn(c, *heap, used.sizes, wrong);
    used.malloc_over_fresh = used.malloc_ms / fresh.malloc_ms;
    used.free_over_fresh = used.free_ms / fresh.free_ms;
  }
  const auto most = [&](double turn_times::*what) {
    return *std::ranges::max_element(in_turn, {}, what);
  };
  const turn_times malloc = most(&turn_times::malloc_ms);
  const turn_times free = most(&turn_times::free_ms);
  const turn_times slowed_malloc = most(&turn_times::malloc_over_fresh);
  const turn_times slowed_free = most(&turn_times::free_over_fresh);
  measurement row;
  wrong.put_into(row);
  row.add(slowest_malloc_ms, malloc.malloc_ms);
  row.add(slowest_malloc_size, malloc.sizes.most);
  row.add(slowest_free_ms, free.free_ms);
  row.add(slowest_free_size, free.sizes.most);
  row.add(malloc_over_fresh, slowed_malloc.malloc_over_fresh);
  row.add(malloc_over_fresh_of, slowed_malloc.sizes.text());
  row.add(free_over_fresh, slowed_free.free_over_fresh);
  row.add(free_over_fresh_of, slowed_free.sizes.text());
  row.add(fields::longest_ms, most(&turn_times::longest_ms).longest_ms);
  return row;
}

const case_registration sequence{
    {.name = "sequence",
     .about = "all powers of two from size_min to size_max, and other sizes, in turn in one heap, "
              "several launches each; then each in a new heap",
     .parameters = {{&given::threads, "1024"},
                    {&given::size_min, "16"},
                    {&given::size_max, "8192"},
                    {&turns, "powers"},
                    {&given::heap_bytes, ""},
                    {&given::iterations, "10"},
                    {&given::seed, "1"}},
     .needs = {&needs::bytes, &needs::frees},
     .fields = {&slowest_malloc_ms, &slowest_malloc_size, &slowest_free_ms, &slowest_free_size,
                &malloc_over_fresh, &malloc_over_fresh_of, &free_over_fresh, &free_over_fresh_of,
                &fields::longest_ms},
     .run = measure_sequence}};

}  // namespace

}  // namespace warpheap::bench
