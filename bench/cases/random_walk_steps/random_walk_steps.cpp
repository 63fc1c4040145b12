// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/cases/random_walk_steps/requests.hpp"
#include "bench/host/support.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace warpheap::bench {

namespace {

constexpr std::uint64_t page_bytes = 256;

/// A heap with at least that many pages.
std::uint64_t heap_bytes_for(std::uint64_t pages) {
  // Beside a page: four bytes in the flags of rw, fewer in a bitmap; and a few fixed words, and
  // the hints of crw, four bytes for each resident thread.
  constexpr std::uint64_t beside = 4;
  constexpr std::uint64_t fixed = std::uint64_t{4} << 20;
  return pages * (page_bytes + beside) + fixed;
}

/// What a run of walks took.
struct walked {
  double thread_average = 0;
  double warp_average = 0;
  std::uint64_t nulls = 0;
  std::uint64_t doubled = 0;
};

walked look_at(std::vector<std::uint32_t> pages, const std::vector<std::uint32_t>& steps) {
  walked found;
  double warps = 0;
  for (std::size_t i = 0; i < steps.size(); i += lanes_per_warp) {
    const auto begin = steps.begin() + static_cast<std::ptrdiff_t>(i);
    const auto end = begin + static_cast<std::ptrdiff_t>(
                                 std::min<std::size_t>(lanes_per_warp, steps.size() - i));
    found.warp_average += *std::max_element(begin, end);
    ++warps;
    for (auto step = begin; step != end; ++step) found.thread_average += *step;
  }
  found.warp_average /= warps;
  found.thread_average /= static_cast<double>(steps.size());
  std::sort(pages.begin(), pages.end());
  for (std::size_t i = 0; i < pages.size(); ++i) {
    if (pages[i] == no_page) {
      ++found.nulls;
    } else if (i != 0 && pages[i] == pages[i - 1]) {
      ++found.doubled;
    }
  }
  return found;
}

constexpr parameter<std::uint64_t> page_parameter{{.name = "pages",
                                                   .unit = "pages",
                                                   .about = "pages of the heap",
                                                   .role = field_role::facet,
                                                   .phrase = "{} pages"},
                                                  {.least = 1, .most = std::uint64_t{1} << 31}};
constexpr field<std::uint64_t> page_count{
    {.name = "page_count",
     .unit = "pages",
     .about = "that the heap really has: whole words of the region that was given",
     .role = field_role::detail}};
constexpr field<std::uint64_t> free_pages_field{{.name = "free_pages",
                                                 .unit = "pages",
                                                 .about = "free at the start",
                                                 .role = field_role::detail}};
constexpr field<std::uint64_t> word_bits{{.name = "word_bits",
                                          .unit = "bits",
                                          .about = "pages that one step looks at",
                                          .role = field_role::facet,
                                          .phrase = "{}-bit words"}};
constexpr field<std::string> search{
    {.name = "search",
     .about = "independent: each lane by itself; collaborative: lanes that call together, whose "
              "steps are the group's; clustered: each lane, first where it found the last page",
     .role = field_role::detail}};

constexpr need numbered_pages{"numbered_pages", "does not hand out numbered pages by a random walk",
                              [](const wanted& w) { return w.manager.numbered_pages.has_value(); }};

/// A mean over the runs, the standard error of that mean, and the first run.
struct step_fields {
  field<double> mean, error, first;
};

constexpr step_fields steps_of(const char* mean, const char* error, const char* first,
                               const char* about) {
  return {field<double>{{.name = mean, .unit = "steps", .about = about, .better = "less"}},
          field<double>{{.name = error,
                         .unit = "steps",
                         .about = "standard error of that mean, over the warm runs",
                         .role = field_role::detail}},
          field<double>{{.name = first,
                         .unit = "steps",
                         .about = "the same of the first run",
                         .role = field_role::detail}}};
}

constexpr step_fields tas = steps_of("tas", "tas_error", "tas_first", "mean of the threads");
constexpr step_fields was =
    steps_of("was", "was_error", "was_first", "mean over warps of the slowest lane");

void add_steps(measurement& row, const step_fields& what, const std::vector<double>& runs) {
  const summary all = summarize_all(runs);
  row.add(what.mean, all.mean);
  row.add(what.error, all.std / std::sqrt(static_cast<double>(runs.size())));
  row.add(what.first, runs.front());
}

measurement measure_walk_steps(const case_run& c) {
  parameters chosen = c.chosen;
  chosen.set(given::heap_bytes, heap_bytes_for(chosen[page_parameter]));
  chosen.set(given::size_min, page_bytes);
  chosen.set(given::size_max, page_bytes);
  const case_run with_heap{c.on, c.manager, chosen};
  const auto heap = open_heap(with_heap);
  const auto held = occupy(with_heap, *heap);
  const std::uint64_t threads = chosen[given::threads];
  const std::uint64_t all = heap->page_count();
  const std::uint64_t free_pages =
      held == nullptr ? all : all - held->blocks.examine(c.manager.alignment).served;
  if (free_pages < threads) {
    throw not_claimed(std::to_string(threads) + " threads need a page each, and " +
                      std::to_string(free_pages) + " of " + std::to_string(all) + " are free");
  }
  const device_array<std::uint32_t> pages(c.on, threads);
  const device_array<std::uint32_t> steps(c.on, threads);
  tally wrong;
  std::vector<double> thread_average;
  std::vector<double> warp_average;
  for (std::uint64_t run = 0; run <= chosen[given::iterations]; ++run) {
    heap->launch(threads, page_taking{threads, pages.data(), steps.data()});
    const walked found = look_at(pages.to_host(), steps.to_host());
    thread_average.push_back(found.thread_average);
    warp_average.push_back(found.warp_average);
    wrong.add_nulls(found.nulls);
    wrong.add_corrupted(found.doubled);
    heap->launch(threads, page_giving{threads, pages.data()});
  }
  if (held != nullptr) wrong.add_corrupted(held->blocks.examine(c.manager.alignment).corrupted);
  measurement row;
  wrong.put_into(row);
  row.add(page_count, all);
  row.add(free_pages_field, free_pages);
  row.add(word_bits, static_cast<std::uint64_t>(c.manager.numbered_pages->word_bits));
  row.add(search, c.manager.numbered_pages->name);
  // Every run finds the same pages free. A clustered walk knows where from the second one on.
  add_steps(row, tas, thread_average);
  add_steps(row, was, warp_average);
  return row;
}

const case_registration random_walk_steps{
    {.name = "random_walk_steps",
     .about = "steps of random walks for a page, against the equations of their paper",
     .parameters = {{&given::threads, "1024"},
                    {&page_parameter, "1048576"},
                    {&given::free_percent, "50"},
                    {&given::iterations, "100"},
                    {&given::seed, "1"}},
     .needs = {&needs::bytes, &needs::frees, &numbered_pages},
     .fields = {&page_count, &free_pages_field, &word_bits, &search, &tas.mean, &tas.error,
                &tas.first, &was.mean, &was.error, &was.first},
     .run = measure_walk_steps}};

}  // namespace

}  // namespace warpheap::bench
