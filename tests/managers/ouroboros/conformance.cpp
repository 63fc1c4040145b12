// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "conformance/configurations.hpp"
#include "warpheap/managers/ouroboros/ouroboros.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace test {

template <queue_kind Queue, item_kind Item>
using configured = ouroboros<ouroboros_config{.queue = Queue, .item = Item}>;

using subjects = configurations<type_list<configured<queue_kind::static_array, item_kind::pages>,
                                          configured<queue_kind::virtual_array, item_kind::chunks>,
                                          configured<queue_kind::virtual_list, item_kind::chunks>>,
                                type_list<configured<queue_kind::static_array, item_kind::chunks>,
                                          configured<queue_kind::virtual_array, item_kind::pages>,
                                          configured<queue_kind::virtual_list, item_kind::pages>>>;

}  // namespace test
WARPHEAP_END_NAMESPACE

#include "conformance/suite.hpp"
