// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "conformance/block_fixture.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace test {

/// Four launches of random calls by `threads` threads, in a heap that has room for all.
template <class M, class Fixture>
void expect_clean_churn(Fixture& test, const std::shared_ptr<heap<M>>& heap, std::uint32_t most,
                        std::uint64_t threads) {
  for (int launch = 0; launch < 4; ++launch) {
    const device_array<tally> found(1);
    const std::uint64_t seed = Fixture::seed + static_cast<std::uint64_t>(launch);
    machine().launch(
        covering(threads),
        churn<handle<M>>{heap->ref(), {1, most}, scale::current().churn_rounds, seed, found.get()});
    const tally seen = found.read()[0];
    EXPECT_EQ(seen.corrupted, 0u) << "blocks of up to " << most << " bytes, seed " << seed;
    if (M::about.reuse == memory_reuse::all) {
      EXPECT_EQ(seen.nulls, 0u) << "there is room for all; seed " << seed;
    }
    test.expect_empty(*heap);
  }
}

CONFORMANCE_TEST(conformance, contents_survive_a_churn) {
  WARPHEAP_REQUIRE_BLOCKS_APART();
  for (const std::uint32_t wanted : {16u, 256u, 2000u, 8192u}) {
    const auto most = static_cast<std::uint32_t>(served<TypeParam>(wanted));
    const auto heap = this->make_heap(most);
    // Four blocks per thread are an eighth of the heap at most.
    const std::uint64_t wanted_threads =
        std::min(scale::current().threads, manager_traits<TypeParam>::most_churn_threads);
    const std::uint64_t threads = this->requests(wanted_threads, 8 * most).size();
    expect_clean_churn<TypeParam>(*this, heap, most, threads);
  }
}

CONFORMANCE_TEST(conformance, contents_survive_a_churn_in_a_heap_that_is_nearly_full) {
  WARPHEAP_REQUIRE(TypeParam::about.reuse == memory_reuse::all, "reuse of all freed blocks");
  const std::uint64_t bytes = this->fill_bytes();
  const auto heap = this->make_fill_heap(4096);
  const holding all = this->take_all(*heap, bytes);
  // Room for far fewer blocks than there are threads that run at a time; on the CPU model those are
  // a warp or two.
  constexpr std::size_t room = WARPHEAP_CUDA_MODEL ? 32 : 8;
  const std::uint64_t wanted = WARPHEAP_CUDA_MODEL && !small_run ? 8192 : race_checked ? 256 : 512;
  const std::uint64_t threads = std::min(wanted, manager_traits<TypeParam>::most_churn_threads);
  holding kept = all;
  holding freed{{}, {}};
  for (std::size_t i = 0; i < all.blocks.size() && freed.blocks.size() < room; i += 3) {
    freed.blocks.push_back(all.blocks[i]);
    freed.bytes.push_back(bytes);
    kept.blocks[i] = nullptr;
  }
  const std::uint64_t left = all.blocks.size() - freed.blocks.size();
  const device_array<std::uint64_t> sizes(freed.bytes);
  const device_array<void*> blocks(freed.blocks);
  const device_array<std::uint64_t> whose(shuffled(freed.blocks.size(), this->seed));
  const device_array<tally> found(1);
  machine().launch(
      covering(freed.blocks.size()),
      check_and_free<handle<TypeParam>>{heap->ref(), sizes.get(), blocks.get(), whose.get(),
                                        freed.blocks.size(), found.get()});
  for (int launch = 0; launch < 3; ++launch) {
    const device_array<tally> seen(1);
    machine().launch(covering(threads),
                     churn<handle<TypeParam>>{
                         heap->ref(),
                         {static_cast<std::uint32_t>(bytes), static_cast<std::uint32_t>(bytes)},
                         scale::current().churn_rounds,
                         this->seed + 10,
                         seen.get()});
    EXPECT_EQ(seen.read()[0].corrupted, 0u);
    EXPECT_GT(seen.read()[0].nulls, 0u) << "the heap was not full";
    this->expect_valid(*heap);
    this->expect_in_use(*heap, left);
  }
  const holding again = this->take_all(*heap, bytes);
  EXPECT_GE(static_cast<double>(again.blocks.size()),
            manager_traits<TypeParam>::refill_share * static_cast<double>(freed.blocks.size()))
      << "blocks were lost";
  this->give(*heap, again);
  this->give(*heap, kept);  // whole: nobody has written into what was not free
  this->expect_empty(*heap);
}

}  // namespace test
WARPHEAP_END_NAMESPACE
