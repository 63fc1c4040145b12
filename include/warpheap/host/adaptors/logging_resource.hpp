// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <memory>
#include <mutex>
#include <string>
#include <system_error>

#include "warpheap/core/error.hpp"
#include "warpheap/host/adaptors/resource_adaptor.hpp"

namespace warpheap::host {

/// Writes every call as a line of RMM's log format, which `warpheap replay` and RMM's own tools
/// read: `Thread,Time,Action,Pointer,Size,Stream`. Copies share the file, which is complete when
/// the last of them is destroyed or after `flush`.
template <class Resource>
class logging_resource : public resource_adaptor<logging_resource<Resource>, Resource> {
  using base = resource_adaptor<logging_resource<Resource>, Resource>;

 public:
  /// \throws error if the file cannot be written
  logging_resource(Resource upstream, const std::string& path)
      : base(std::move(upstream)), log_(std::make_shared<log>(path)) {}

  /// Writes all lines that are not in the file yet.
  void flush() { log_->file.flush(); }

  template <class Call>
  void* on_allocate(std::size_t bytes, stream_id stream, Call&& call) {
    try {
      void* memory = call();
      log_->write("allocate", memory, bytes, stream);
      return memory;
    } catch (...) {
      log_->write("allocate failure", nullptr, bytes, stream);
      throw;
    }
  }

  // Written before the call: after it, another thread may get the same address and log it.
  template <class Call>
  void on_deallocate(void* memory, std::size_t bytes, stream_id stream, Call&& call) {
    log_->write("free", memory, bytes, stream);
    call();
  }

  friend bool operator==(const logging_resource& a, const logging_resource& b) {
    return a.log_ == b.log_;
  }

 private:
  struct log {
    explicit log(const std::string& path) : file(path) {
      if (!file)
        throw error("the log '" + path +
                    "' cannot be written: " + std::generic_category().message(errno));
      file << "Thread,Time,Action,Pointer,Size,Stream\n";
    }

    void write(const char* action, void* memory, std::size_t bytes, stream_id stream) {
      const auto now = std::chrono::system_clock::now();
      const std::time_t seconds = std::chrono::system_clock::to_time_t(now);
      const auto micros =
          std::chrono::duration_cast<std::chrono::microseconds>(now.time_since_epoch()).count();
      std::tm local{};
      ::localtime_r(&seconds, &local);
      char time[32];
      std::snprintf(time, sizeof time, "%02d:%02d:%02d.%06d", local.tm_hour, local.tm_min,
                    local.tm_sec, static_cast<int>(micros % 1000000));
      const auto handle =
          stream == stream_id::none ? std::uintptr_t{0} : static_cast<std::uintptr_t>(stream);
      const std::lock_guard guard(lock);
      file << ::syscall(SYS_gettid) << ',' << time << ',' << action << ','
           << (memory != nullptr ? to_text(reinterpret_cast<address>(memory)) : "(nil)") << ','
           << bytes << ',' << (handle != 0 ? to_text(handle) : "0") << '\n';
    }

    std::mutex lock;
    std::ofstream file;
  };

  std::shared_ptr<log> log_;
};

}  // namespace warpheap::host
