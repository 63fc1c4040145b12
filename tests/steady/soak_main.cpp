// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "arguments.hpp"

#include <cstdio>
#include <exception>
#include <limits>

int main(int argc, char** argv) {
  warpheap::steady_load::request asked;
  CLI::App app("Rounds of drawn launches on one heap, for as long as you like.");
  for (CLI::Option* argument : warpheap::steady_load::add_arguments(app, asked)) {
    argument->required();
  }
  app.add_option("SEED", asked.seed)
      ->check(warpheap::bench::whole(0, std::numeric_limits<std::uint64_t>::max()));
  CLI11_PARSE(app, argc, argv);
  try {
    return warpheap::steady_load::run_soak(asked);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "soak: %s\n", e.what());
    return 1;
  }
}
