// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "bench/host/case.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace warpheap::bench {

/// The values that a case is measured with: those of the words, such as `--threads 64`, and the
/// case's standard values for all others.
/// \throws usage_error that names the word and what is possible
parameters parse_parameters(const case_entry& entry, const std::vector<std::string>& words,
                            std::uint64_t default_heap_bytes);

/// The names of things, for messages.
template <class Things, class Name>
std::string names_of(const Things& things, Name name) {
  std::string all;
  for (const auto& thing : things) all += (all.empty() ? "" : ", ") + std::string(name(thing));
  return all;
}

/// What the program can be told to do.
struct commands {
  void (*list)();
  void (*run)(const std::string& case_name, const std::string& manager,
              const std::vector<std::string>& words);
};

/// Does what the program's arguments say, and returns its exit status: 2 if they cannot be
/// followed.
int follow(int count, char** words, const commands& known);

}  // namespace warpheap::bench
