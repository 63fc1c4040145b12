// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/core/config.hpp"
#include "warpheap/core/error.hpp"

#include <cstdint>
#include <string>

WARPHEAP_BEGIN_NAMESPACE
namespace verify {

/// A subject, case, strategy or memory that is not there. The message lists those that are.
class bad_request : public invalid_argument {
 public:
  using invalid_argument::invalid_argument;
};

/// What to explore, by name.
struct task_request {
  std::string subject;
  std::string test;
  std::string strategy;
  std::string memory;
};

/// What a command goes through; an empty name: all.
struct selection {
  std::string subject;
  std::string memory;
};

/// When an exploration ends, unless something is found first. Seconds are those of the processor: a
/// busy machine does not explore less.
struct budget {
  std::uint64_t schedules = 100'000;
  double seconds = 60;
  std::uint64_t first_seed = 1;
};

// Each gives the exit code of the program.

int print_list();
/// \throws bad_request
int run_one(const task_request& task, const budget& limits);
/// \throws bad_request
int replay_one(const task_request& task, std::uint64_t seed);
/// Managers and structures. A subject for which `subject_seconds` are over gets no more schedules
/// once each of its combinations has had the first few. \throws bad_request
int check_all(const selection& only, const budget& limits, double subject_seconds);
/// Mutants; what is found is replayed in another process. \throws bad_request
int hunt_mutants(const selection& only, const budget& limits);
/// Damages each word of every manager's heap `times` times, and asks for an inspection each time.
/// \throws bad_request
int damage_managers(const selection& only, int times);

}  // namespace verify
WARPHEAP_END_NAMESPACE
