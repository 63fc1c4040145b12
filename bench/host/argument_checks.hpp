// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// Checks of numbers in command lines. CLI11's Range is not enough: it lets through what is not a
/// number ("nan"), and CLI11 2.1 reads -5 as 2^64 - 5 if the number has no sign.

#include <CLI/CLI.hpp>

#include <cstdint>
#include <string>

namespace warpheap::bench {

/// A number above `least` and up to `most`.
inline CLI::Validator above(std::uint64_t least, std::uint64_t most) {
  return CLI::Validator(
      [=](const std::string& written) {
        double number = 0;
        const bool read = CLI::detail::lexical_cast(written, number);
        return read && number > static_cast<double>(least) && number <= static_cast<double>(most)
                   ? std::string()
                   : written + " is not a number above " + std::to_string(least) + " and up to " +
                         std::to_string(most);
      },
      "NUMBER");
}

/// A whole number from `least` to `most`.
inline CLI::Validator whole(std::uint64_t least, std::uint64_t most) {
  return CLI::Validator(
      [=](const std::string& written) {
        std::uint64_t number = 0;
        const bool read = !written.starts_with('-') && CLI::detail::lexical_cast(written, number);
        return read && number >= least && number <= most
                   ? std::string()
                   : written + " is not a whole number from " + std::to_string(least) + " to " +
                         std::to_string(most);
      },
      "NUMBER");
}

}  // namespace warpheap::bench
