// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/core/config.hpp"

#include <cstddef>
#include <cstdio>
#include <string>

WARPHEAP_BEGIN_NAMESPACE
namespace simt {

/// The version in the first line of the file in which NVIDIA's driver states its version, such as
/// "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  Release Build"; empty if
/// there is none. Without streams, because every kernel's source includes this.
inline std::string driver_version_in(const std::string& line) {
  constexpr const char* space = " \t\r\n";
  for (std::size_t end = 0; end != std::string::npos;) {
    const std::size_t begin = line.find_first_not_of(space, end);
    if (begin == std::string::npos) break;
    end = line.find_first_of(space, begin);
    const std::string word = line.substr(begin, end - begin);
    const bool numbers = word.find_first_not_of("0123456789.") == std::string::npos;
    if (numbers && word.find('.') != std::string::npos && word.front() != '.') return word;
  }
  return {};
}

/// The version of the loaded driver, which CUDA itself does not report; empty if unknown.
inline std::string driver_version() {
  std::string line;
  if (std::FILE* const file = std::fopen("/proc/driver/nvidia/version", "r")) {
    for (int c = std::getc(file); c != EOF && c != '\n'; c = std::getc(file)) {
      line += static_cast<char>(c);
    }
    std::fclose(file);
  }
  return driver_version_in(line);
}

}  // namespace simt
WARPHEAP_END_NAMESPACE
