// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/core/align.hpp"

#include <sys/mman.h>
#include <unistd.h>
#include <algorithm>
#include <cstddef>
#include <new>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {

/// An array behind whose last element no memory follows: a read or a write there ends the program,
/// with or without a sanitizer.
template <class T>
class fenced {
 public:
  explicit fenced(const std::vector<T>& elements)
      : bytes_(round_up(elements.size() * sizeof(T), page())),
        base_(::mmap(nullptr, bytes_ + page(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                     -1, 0)) {
    if (base_ == MAP_FAILED) throw std::bad_alloc();
    std::byte* const end = static_cast<std::byte*>(base_) + bytes_;
    if (::mprotect(end, page(), PROT_NONE) != 0) throw std::bad_alloc();
    elements_ = reinterpret_cast<T*>(end) - elements.size();
    std::copy(elements.begin(), elements.end(), elements_);
  }
  ~fenced() { ::munmap(base_, bytes_ + page()); }
  fenced(const fenced&) = delete;
  fenced& operator=(const fenced&) = delete;

  const T* data() const { return elements_; }

 private:
  static std::size_t page() { return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)); }

  std::size_t bytes_;
  void* base_;
  T* elements_ = nullptr;
};

}  // namespace test
WARPHEAP_END_NAMESPACE
