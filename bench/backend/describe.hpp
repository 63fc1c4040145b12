// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "bench/host/machine.hpp"
#include "warpheap/heap/capabilities.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace backend {

/// What a manager says about itself, for the host code of the cases.
inline bench::manager_info described(const capabilities& about) {
  bench::manager_info info;
  info.name = about.name;
  info.description = about.description;
  info.folder = about.folder;
  info.title = about.published.title;
  info.authors = about.published.authors;
  info.venue = about.published.venue;
  info.doi = about.published.doi;
  info.year = about.published.year;
  for (const char* deviation : about.deviations) {
    if (deviation != nullptr) info.deviations.emplace_back(deviation);
  }
  info.largest_block = about.largest_block;
  info.alignment = about.alignment;
  info.frees = about.frees;
  info.reuse = about.reuse == memory_reuse::all    ? "all"
               : about.reuse == memory_reuse::none ? "none"
                                                   : "partial";
  info.growth = about.growth;
  info.resets = about.resets;
  return info;
}

}  // namespace backend
WARPHEAP_END_NAMESPACE
