// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "exploration.hpp"

#include <algorithm>
#include <cstddef>
#include <ctime>

WARPHEAP_BEGIN_NAMESPACE
namespace verify {

namespace {

template <class Names>
std::string joined(const Names& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

template <class Range, class NameOf>
auto find_named(const Range& among, const NameOf& name_of, const char* what,
                const std::string& name) {
  const auto found = std::find_if(std::begin(among), std::end(among),
                                  [&](const auto& one) { return name_of(one) == name; });
  if (found == std::end(among)) {
    std::vector<std::string> known;
    std::vector<std::string> similar;
    for (const auto& one : among) {
      known.emplace_back(name_of(one));
      if (!name.empty() && known.back().find(name) != std::string::npos) {
        similar.push_back(known.back());
      }
    }
    // There are hundreds of subjects, with their mutants.
    constexpr std::size_t readable = 12;
    std::string hint = "; `warpheap-verify list` names all";
    if (known.size() <= readable) {
      hint = "; there are: " + joined(known);
    } else if (!similar.empty() && similar.size() <= readable) {
      hint = "; did you mean " + joined(similar) + "?";
    }
    throw bad_request(std::string("unknown ").append(what) + " '" + name + "'" + hint);
  }
  return found;
}

}  // namespace

const subject& find_subject(const std::string& name) {
  return *find_named(
      catalogue(), [](const subject& s) { return s.name; }, "subject", name);
}

const named_case& find_case(const subject& of, const std::string& name) {
  return *find_named(
      of.cases, [](const named_case& c) { return c.name; }, "case", name);
}

simt::strategy find_strategy(const std::string& name) {
  return find_named(
             strategies, [](const auto& s) { return std::string(s.first); }, "strategy", name)
      ->second;
}

simt::memory_model find_memory(const std::string& name) {
  return find_named(
             memories, [](const auto& m) { return std::string(m.first); }, "memory", name)
      ->second;
}

exploration explore(scenario& of, simt::strategy how, simt::memory_model memory,
                    const budget& limits) {
  constexpr std::uint64_t schedules_between_looks = 64;
  const std::clock_t start = std::clock();
  const auto elapsed = [&] { return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC; };
  exploration result;
  while (result.schedules < limits.schedules) {
    if (result.schedules % schedules_between_looks == 0 && elapsed() > limits.seconds) break;
    const std::uint64_t seed = limits.first_seed + result.schedules;
    ++result.schedules;
    std::string wrong = of.run({how, seed, memory}, nullptr);
    if (!wrong.empty()) {
      result.found = finding{seed, std::move(wrong)};
      break;
    }
  }
  result.seconds = elapsed();
  return result;
}

}  // namespace verify
WARPHEAP_END_NAMESPACE
