// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/peers/cuda/cuco.hpp"

namespace warpheap::bench::peers {

program this_program() {
  return {"warpheap-bench-peers",
          {// The defaults of cuCollections.
           {"cuco", join_with_multimap<8>, group_with_map<4>},
           // What cuDF's hash join and group-by have.
           {"cuco_as_cudf", join_with_multimap<2>, group_with_map<1>}}};
}

}  // namespace warpheap::bench::peers
