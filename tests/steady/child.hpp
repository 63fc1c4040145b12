// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/core/config.hpp"

#include <sys/wait.h>
#include <unistd.h>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {

/// Runs another program, the first argument, and kills it if it has not finished after `seconds`:
/// then nullopt. Else its exit status, or 128 and the number of the signal that ended it. The
/// caller must not have used CUDA, which does not survive a fork.
inline std::optional<int> run_child(std::vector<std::string> arguments, double seconds) {
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  const pid_t child = fork();
  if (child < 0) throw std::system_error(errno, std::generic_category(), "fork");
  if (child == 0) {
    execv(pointers.front(), pointers.data());
    _exit(127);
  }
  bool killed = false;
  int status = 0;
  // Ends: a look every 10 ms until time is up, and then a wait for a process that was killed,
  // which the kernel ends unless a driver holds it.
  for (;;) {
    const pid_t ended = waitpid(child, &status, killed ? 0 : WNOHANG);
    if (ended == child) break;
    if (ended < 0 && errno != EINTR) {
      throw std::system_error(errno, std::generic_category(), "waitpid");
    }
    if (ended == 0 && std::chrono::steady_clock::now() >= end) {
      kill(child, SIGKILL);
      killed = true;
    } else if (ended == 0) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }
  if (killed) return std::nullopt;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace test
WARPHEAP_END_NAMESPACE
