// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/host/child.hpp"

#include "warpheap/core/error.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>

namespace warpheap::bench {

namespace {

/// A pipe, both of whose ends are closed with it.
class pipe_pair {
 public:
  pipe_pair() {
    if (pipe2(ends_.data(), O_CLOEXEC) != 0) {
      throw error(std::string("cannot make a pipe: ") + std::strerror(errno));
    }
  }
  ~pipe_pair() {
    close(ends_[0]);
    close_writer();
  }
  pipe_pair(const pipe_pair&) = delete;
  pipe_pair& operator=(const pipe_pair&) = delete;

  int reader() const { return ends_[0]; }
  int writer() const { return ends_[1]; }
  void close_writer() {
    if (ends_[1] >= 0) close(ends_[1]);
    ends_[1] = -1;
  }

 private:
  std::array<int, 2> ends_{-1, -1};
};

std::string last_line(const std::string& text) {
  const std::size_t end = text.find_last_not_of("\n\r ");
  if (end == std::string::npos) return {};
  const std::size_t before = text.rfind('\n', end);
  return text.substr(before == std::string::npos ? 0 : before + 1,
                     end - (before == std::string::npos ? 0 : before + 1) + 1);
}

/// Reads both pipes until both are closed or the time is over; false if it is over.
bool collect(const pipe_pair& out, const pipe_pair& err, std::string& output, std::string& errors,
             std::chrono::steady_clock::time_point deadline) {
  std::array<pollfd, 2> watched{{{out.reader(), POLLIN, 0}, {err.reader(), POLLIN, 0}}};
  const std::array<std::string*, 2> texts{&output, &errors};
  int open_ends = 2;
  while (open_ends > 0) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0) return false;
    const int ready = poll(watched.data(), watched.size(), static_cast<int>(left.count()));
    if (ready < 0 && errno != EINTR) {
      throw error(std::string("cannot wait for a process: ") + std::strerror(errno));
    }
    if (ready <= 0) continue;
    for (std::size_t i = 0; i < watched.size(); ++i) {
      if (watched[i].revents == 0) continue;
      std::array<char, 4096> buffer{};
      const ssize_t got = read(watched[i].fd, buffer.data(), buffer.size());
      if (got > 0) {
        texts[i]->append(buffer.data(), static_cast<std::size_t>(got));
      } else if (got == 0 || errno != EINTR) {
        watched[i].fd = -1;  // poll passes over it
        --open_ends;
      }
    }
  }
  return true;
}

/// Never returns.
[[noreturn]] void become(const std::string& program, const std::vector<std::string>& arguments,
                         const pipe_pair& out, const pipe_pair& err) {
  setpgid(0, 0);
  dup2(out.writer(), STDOUT_FILENO);
  dup2(err.writer(), STDERR_FILENO);
  std::vector<char*> words{const_cast<char*>(program.c_str())};
  for (const std::string& argument : arguments)
    words.push_back(const_cast<char*>(argument.c_str()));
  words.push_back(nullptr);
  execv(program.c_str(), words.data());
  _exit(127);
}

}  // namespace

child_outcome run_child(const std::string& program, const std::vector<std::string>& arguments,
                        double limit_s) {
  const auto start = std::chrono::steady_clock::now();
  pipe_pair out;
  pipe_pair err;
  const pid_t child = fork();
  if (child < 0) throw error(std::string("cannot make a process: ") + std::strerror(errno));
  if (child == 0) become(program, arguments, out, err);
  setpgid(child, child);  // also here: whoever comes first
  out.close_writer();
  err.close_writer();
  child_outcome outcome;
  std::string errors;
  const auto limit = std::chrono::duration_cast<std::chrono::steady_clock::duration>(
      std::chrono::duration<double>(limit_s));
  const bool in_time = collect(out, err, outcome.output, errors, start + limit);
  if (!in_time) kill(-child, SIGKILL);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  outcome.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  outcome.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  outcome.end = !in_time ? "timeout" : WIFEXITED(status) ? "done" : "crashed";
  if (WIFSIGNALED(status)) {
    outcome.reason = std::string("signal ") + strsignal(WTERMSIG(status));
  } else {
    outcome.reason = "exit status " + std::to_string(outcome.status);
  }
  const std::string said = last_line(errors);
  if (!said.empty()) outcome.reason += ": " + said;
  return outcome;
}

}  // namespace warpheap::bench
