// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "managers/kma/buckets_cases.hpp"
#include "managers/kma/setups.hpp"
#include "managers/kma/superblock_queue_cases.hpp"

#include "warpheap/managers/kma/kma.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace verify {
namespace {

using small = kma<kma_config{
    .superblock_bytes = 64, .superblocks_per_shard = 1, .superblocks_per_queue = 12}>;
using wide = kma<kma_config{.superblock_bytes = 1024}>;
using hasty_buckets = kma_buckets<kma_config{.futile_looks = 3}>;
const registrar added[]{
    registrar{{"kma", subject_kind::manager, kma_cases(small_kma<small>()), "", ""}},
    registrar{{"kma_wide", subject_kind::manager, wide_kma_cases<wide>(), "", ""}},
    registrar{{"kma_buckets", subject_kind::structure, kma_look_cases<hasty_buckets>(), "", ""}},
    registrar{{"kma_queue", subject_kind::structure, kma_queue_cases<kma_queue>(), "", ""}},
};

}  // namespace
}  // namespace verify
WARPHEAP_END_NAMESPACE
