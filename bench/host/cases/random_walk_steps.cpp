// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/host/cases/cases.hpp"
#include "bench/host/walk_model.hpp"

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
  for (std::size_t i = 0; i < steps.size(); i += lanes_a_warp) {
    const auto begin = steps.begin() + static_cast<std::ptrdiff_t>(i);
    const auto end =
        begin + static_cast<std::ptrdiff_t>(std::min<std::size_t>(lanes_a_warp, steps.size() - i));
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

/// The mean over the runs, and the standard error of that mean.
void add_mean(measurement& row, const std::string& name, const std::vector<double>& runs) {
  const summary all = summarize_all(runs);
  row.add(name, all.mean);
  row.add(name + "_error", all.std / std::sqrt(static_cast<double>(runs.size())));
}

/// A number for the row; null stands for an infinite one.
field finite(double value) { return std::isfinite(value) ? field(value) : field(); }

void add_model(const case_run& c, const walk_setting& setting, measurement& row) {
  switch (c.manager.walk) {
    case walk_kind::independent: {
      const walk_steps model = steps_of_walks(setting);
      row.add("tas_model", model.mean);
      row.add("was_bound", finite(model.slowest_lane_bound));
      row.add("tas_equation", equation_5(setting));
      row.add("was_equation", finite(equation_6(setting)));
      break;
    }
    case walk_kind::collaborative:
      row.add("tas_model", mean_warp_steps(setting));
      row.add("was_bound", finite(warp_steps_bound(setting)));
      row.add("first_passage", finite(first_passage(setting)));
      break;
    case walk_kind::clustered: {
      const walk_steps model = steps_of_walks(setting);
      // How often the first look succeeds depends on what was taken before; if it never does, a
      // whole walk follows.
      row.add("tas_model", field());
      row.add("tas_bound", 1 + model.mean);
      row.add("was_bound", finite(1 + model.slowest_lane_bound));
      break;
    }
  }
}

}  // namespace

measurement measure_walk_steps(const case_run& c) {
  parameters chosen = c.chosen;
  chosen.heap_bytes = heap_bytes_for(chosen.pages);
  chosen.size_min = chosen.size_max = page_bytes;
  const case_run with_heap{c.on, c.manager, chosen};
  const auto heap = open_heap(with_heap);
  const auto held = occupy(with_heap, *heap);
  const std::uint64_t all = heap->page_count();
  const std::uint64_t free_pages =
      held == nullptr ? all : all - held->blocks.examine(c.manager.alignment).served;
  if (free_pages < chosen.threads) {
    throw not_claimed(std::to_string(chosen.threads) + " threads need a page each, and " +
                      std::to_string(free_pages) + " of " + std::to_string(all) + " are free");
  }
  const device_array<std::uint32_t> pages(c.on, chosen.threads);
  const device_array<std::uint32_t> steps(c.on, chosen.threads);
  tally wrong;
  std::vector<double> thread_average;
  std::vector<double> warp_average;
  for (std::uint64_t run = 0; run <= chosen.iterations; ++run) {
    heap->take_pages(chosen.threads, pages.data(), steps.data());
    const walked found = look_at(pages.to_host(), steps.to_host());
    thread_average.push_back(found.thread_average);
    warp_average.push_back(found.warp_average);
    wrong.add_nulls(found.nulls);
    wrong.add_corrupted(found.doubled);
    heap->give_pages(chosen.threads, pages.data());
  }
  if (held != nullptr) wrong.add_corrupted(held->blocks.examine(c.manager.alignment).corrupted);
  measurement row;
  wrong.put_into(row);
  row.add("page_count", all);
  row.add("free_pages", free_pages);
  row.add("word_bits", static_cast<std::uint64_t>(c.manager.word_bits));
  // Every run finds the same pages free. A clustered walk knows where from the second one on.
  add_mean(row, "tas", thread_average);
  add_mean(row, "was", warp_average);
  row.add("tas_first", thread_average.front());
  row.add("was_first", warp_average.front());
  add_model(c, {all, free_pages, chosen.threads, c.manager.word_bits}, row);
  return row;
}

}  // namespace warpheap::bench
