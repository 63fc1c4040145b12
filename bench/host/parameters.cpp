// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/host/parameters.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>

namespace warpheap::bench {

namespace {

std::string flag(std::string name) {
  std::replace(name.begin(), name.end(), '_', '-');
  return "--" + name;
}

/// The text of each parameter: given, or standard, or empty.
class values {
 public:
  values(const std::map<std::string, std::string>& given,
         const std::map<std::string, std::string>& standards)
      : texts_(standards) {
    for (const auto& [name, text] : given) texts_[name] = text;
    // One bound alone means one size.
    if (given.contains("size_min") && !given.contains("size_max")) {
      texts_["size_max"] = given.at("size_min");
    }
    if (given.contains("size_max") && !given.contains("size_min")) {
      texts_["size_min"] = given.at("size_max");
    }
  }

  std::string text(const std::string& name) const {
    const auto found = texts_.find(name);
    return found == texts_.end() ? std::string() : found->second;
  }

  /// 0 where the case has no such parameter.
  std::uint64_t whole(const std::string& name, std::uint64_t least, std::uint64_t most) const {
    const std::string written = text(name);
    if (written.empty()) return 0;
    std::uint64_t number = 0;
    const char* end = written.data() + written.size();
    const auto [stop, status] = std::from_chars(written.data(), end, number);
    if (status != std::errc() || stop != end || number < least || number > most) {
      throw usage_error(flag(name) + " is '" + written + "': a whole number from " +
                        std::to_string(least) + " to " + std::to_string(most) + " is needed");
    }
    return number;
  }

  double percent(const std::string& name, double standard) const {
    const std::string written = text(name);
    if (written.empty()) return standard;
    char* stop = nullptr;
    const double number = std::strtod(written.c_str(), &stop);
    if (*stop != '\0' || !std::isfinite(number) || number <= 0 || number > 100) {
      throw usage_error(flag(name) + " is '" + written +
                        "': a number above 0 and up to 100 is needed");
    }
    return number;
  }

  /// True if the value is the second word, false if it is the first or not there.
  bool second_of(const std::string& name, const std::string& first,
                 const std::string& second) const {
    const std::string written = text(name);
    if (!written.empty() && written != first && written != second) {
      throw usage_error(flag(name) + " is '" + written + "': " + first + " or " + second +
                        " is needed");
    }
    return written == second;
  }

 private:
  std::map<std::string, std::string> texts_;
};

void check_sizes(const parameters& chosen) {
  if (chosen.size_min > chosen.size_max) {
    throw usage_error("--size-min is " + std::to_string(chosen.size_min) +
                      ", above --size-max, which is " + std::to_string(chosen.size_max));
  }
  if (chosen.size_max - chosen.size_min >= std::numeric_limits<std::uint32_t>::max()) {
    throw usage_error("--size-min " + std::to_string(chosen.size_min) + " and --size-max " +
                      std::to_string(chosen.size_max) + " are 4 GiB or more apart");
  }
  if (chosen.sizes != distribution::powers) return;
  for (const std::uint64_t size : {chosen.size_min, chosen.size_max}) {
    if (!std::has_single_bit(size)) {
      throw usage_error("--distribution powers needs powers of two as --size-min and --size-max, " +
                        std::to_string(size) + " is none");
    }
  }
}

}  // namespace

const std::vector<parameter_info>& known_parameters() {
  static const std::vector<parameter_info> known{
      {"mode", "", "'thread': every thread allocates; 'warp': lane 0 of every warp", ""},
      {"threads", "threads", "threads of a launch", ""},
      {"size_min", "bytes", "smallest size that is asked for", ""},
      {"size_max", "bytes", "largest size that is asked for; page managers get pages of it", ""},
      {"distribution", "", "of sizes from size_min to size_max: 'uniform' or 'powers' of two", ""},
      {"heap_bytes", "bytes", "size of the heap, metadata included", ""},
      {"iterations", "runs", "warm runs after the first one on a fresh heap", ""},
      {"seed", "", "of everything that is drawn at random", ""},
      {"free_percent", "%", "share of the heap (or its pages) that is free at the start", ""},
      {"pages", "pages", "pages of the heap", ""},
      {"rounds", "rounds", "how often the case repeats its step", ""},
      {"graph", "file", "the graph, as a CSR file", ""},
  };
  return known;
}

parameters parse_parameters(const std::map<std::string, std::string>& given,
                            const std::map<std::string, std::string>& standards) {
  constexpr std::uint64_t most_threads = std::uint64_t{1} << 30;
  constexpr std::uint64_t most_bytes = std::uint64_t{1} << 40;
  constexpr std::uint64_t most_pages = std::uint64_t{1} << 31;
  constexpr std::uint64_t most_runs = 1'000'000;
  const values all(given, standards);
  parameters chosen;
  chosen.one_a_warp = all.second_of("mode", "thread", "warp");
  chosen.threads = all.whole("threads", 1, most_threads);
  chosen.size_min = all.whole("size_min", 1, most_bytes);
  chosen.size_max = all.whole("size_max", 1, most_bytes);
  chosen.sizes = all.second_of("distribution", "uniform", "powers") ? distribution::powers
                                                                    : distribution::uniform;
  // No bound of its own: what is above the device's memory is refused with the memory's size.
  chosen.heap_bytes = all.whole("heap_bytes", 1, std::numeric_limits<std::uint64_t>::max());
  chosen.iterations = all.whole("iterations", 1, most_runs);
  chosen.seed = all.whole("seed", 0, std::numeric_limits<std::uint64_t>::max());
  chosen.rounds = all.whole("rounds", 1, most_runs);
  chosen.pages = all.whole("pages", 1, most_pages);
  chosen.free_percent = all.percent("free_percent", 100);
  chosen.graph = all.text("graph");
  check_sizes(chosen);
  return chosen;
}

}  // namespace warpheap::bench
