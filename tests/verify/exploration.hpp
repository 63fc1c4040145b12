// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "commands.hpp"
#include "scenario.hpp"

#include "warpheap/simt/cpu/lane.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>

WARPHEAP_BEGIN_NAMESPACE
namespace verify {

inline constexpr std::array<std::pair<const char*, simt::strategy>, 3> strategies{
    {{"sticky", simt::strategy::sticky},
     {"uniform", simt::strategy::uniform},
     {"pct", simt::strategy::pct}}};

inline constexpr std::array<std::pair<const char*, simt::memory_model>, 2> known_memories{
    {{"sc", simt::memory_model::sequential}, {"weak", simt::memory_model::weak}}};
/// Those of this build: ThreadSanitizer judges orders itself, on memory as it is.
inline constexpr std::span memories(known_memories.data(), WARPHEAP_THREAD_SANITIZER ? 1u : 2u);

struct finding {
  std::uint64_t seed;
  std::string what;
};

struct exploration {
  std::uint64_t schedules = 0;
  double seconds = 0;
  std::optional<finding> found;

  double per_second() const { return seconds > 0 ? static_cast<double>(schedules) / seconds : 0; }
};

/// \throws bad_request with the known names, or similar ones if there are many
const subject& find_subject(const std::string& name);
const named_case& find_case(const subject& of, const std::string& name);
simt::strategy find_strategy(const std::string& name);
simt::memory_model find_memory(const std::string& name);

/// Runs schedules with ascending seeds until something is found or the budget is used up.
exploration explore(scenario& of, simt::strategy how, simt::memory_model memory,
                    const budget& limits);

}  // namespace verify
WARPHEAP_END_NAMESPACE
