// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// What `list` says about a manager's claims. Included by one translation unit of a program.

#include "bench/backend/catalog.hpp"

#include <cstdint>
#include <string>

WARPHEAP_BEGIN_NAMESPACE
namespace backend {

constexpr const char* name_of(allocation_scope scope) {
  switch (scope) {
    case allocation_scope::thread:
      return "thread";
    case allocation_scope::warp:
      return "warp";
    case allocation_scope::object:
      return "object";
    case allocation_scope::page:
      break;
  }
  return "page";
}

constexpr const char* name_of(memory_reuse reuse) {
  switch (reuse) {
    case memory_reuse::all:
      return "all";
    case memory_reuse::partial:
      return "partial";
    case memory_reuse::unchecked:
      return "unchecked";
    case memory_reuse::none:
      break;
  }
  return "none";
}

/// A number of `list`, where 0 stands for none.
inline bench::field_value or_null(std::uint64_t value) {
  return value == 0 ? bench::field_value() : bench::field_value(value);
}

bench::manager_info describe(const capabilities& about, allocation_scope scope) {
  bench::manager_info info;
  info.name = about.name;
  info.largest_block = about.largest_block;
  info.alignment = about.alignment;
  info.frees = about.frees;
  info.runs_out = about.keeps_blocks_apart();
  info.fixed_pages = scope == allocation_scope::page;
  info.objects = scope == allocation_scope::object;
  const publication& published = about.published;
  info.about = {{"description", std::string(about.description)},
                {"folder", std::string(about.folder_name())},
                {"title", std::string(published.title)},
                {"authors", std::string(published.authors)},
                {"venue", std::string(published.venue)},
                {"year", or_null(static_cast<std::uint64_t>(published.year))},
                {"doi", std::string(published.doi)}};
  for (const char* deviation : about.deviations) {
    if (deviation != nullptr) info.deviations.emplace_back(deviation);
  }
  info.claims = {{"largest_block", or_null(about.largest_block)},
                 {"alignment", std::uint64_t{about.alignment}},
                 {"frees", about.frees},
                 {"scope", std::string(name_of(scope))},
                 {"reuse", std::string(name_of(about.reuse))},
                 {"growth", about.growth}};
  return info;
}

}  // namespace backend
WARPHEAP_END_NAMESPACE
