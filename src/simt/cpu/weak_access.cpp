// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The seam's atomic accesses of a lane whose memory is weak.
#include "warp.hpp"
#include "weak_memory.hpp"

namespace warpheap {
inline namespace WARPHEAP_MODEL {
namespace simt::runtime {

namespace {
runtime_detail::weak_memory& memory() { return *runtime_detail::current_scheduler->weak(); }
std::uint32_t me() { return static_cast<std::uint32_t>(here.lane->rank()); }
}  // namespace

std::uint64_t weak_load(const void* word, std::uint32_t bytes, order o) {
  return memory().load(me(), word, bytes, o);
}
std::uint64_t weak_hint(const void* word, std::uint32_t bytes) {
  return memory().hint(me(), word, bytes);
}
void weak_store(void* word, std::uint32_t bytes, std::uint64_t value, order o) {
  memory().store(me(), word, bytes, value, o);
}
void weak_load_newest(const void* word, std::uint32_t bytes, order o) {
  memory().load_newest(me(), word, bytes, o);
}
void weak_update(void* word, std::uint32_t bytes, std::uint64_t value, order o) {
  memory().update(me(), word, bytes, value, o);
}
void weak_fence(order o) { memory().fence(me(), o); }

}  // namespace simt::runtime
}  // namespace WARPHEAP_MODEL
}  // namespace warpheap
