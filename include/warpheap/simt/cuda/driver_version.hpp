// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/core/config.hpp"

#include <fstream>
#include <sstream>
#include <string>

WARPHEAP_BEGIN_NAMESPACE
namespace simt {

/// The version in the first line of the file in which NVIDIA's driver states its version, such as
/// "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  Release Build"; empty if
/// there is none.
inline std::string driver_version_in(const std::string& line) {
  std::istringstream words(line);
  for (std::string word; words >> word;) {
    const bool numbers = word.find_first_not_of("0123456789.") == std::string::npos;
    if (numbers && word.find('.') != std::string::npos && word.front() != '.') return word;
  }
  return {};
}

/// The version of the loaded driver, which CUDA itself does not report; empty if unknown.
inline std::string driver_version() {
  std::ifstream file("/proc/driver/nvidia/version");
  std::string line;
  std::getline(file, line);
  return driver_version_in(line);
}

}  // namespace simt
WARPHEAP_END_NAMESPACE
