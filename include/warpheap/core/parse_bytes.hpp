// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/core/config.hpp"
#include "warpheap/core/error.hpp"

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>

WARPHEAP_BEGIN_NAMESPACE

/// A number of bytes: digits and, if any, one of K, M, G, T, KiB, MiB, GiB, TiB, all binary.
/// \param name of the setting, for the message
/// \throws invalid_argument if it is something else, zero, or more than 2^64 - 1
inline std::size_t parse_bytes(std::string_view name, std::string_view text) {
  std::size_t number = 0;
  const char* const end = std::to_address(text.end());
  const auto [unit, status] = std::from_chars(std::to_address(text.begin()), end, number);
  std::string_view suffix(unit, static_cast<std::size_t>(end - unit));
  if (suffix.size() == 3 && suffix.substr(1) == "iB") suffix.remove_suffix(2);
  constexpr std::string_view units = "KMGT";
  const std::size_t power = suffix.empty() ? 0 : units.find(suffix) + 1;  // npos + 1 is 0
  const bool readable = status == std::errc{} && number != 0 && (suffix.empty() || power != 0);
  if (!readable || number > SIZE_MAX >> (10 * power)) {
    throw invalid_argument(std::string(name) + " is '" + std::string(text) +
                           "': expected a number of bytes from 1 to 2^64 - 1, such as 536870912, "
                           "512M or 2GiB");
  }
  return number << (10 * power);
}

WARPHEAP_END_NAMESPACE
