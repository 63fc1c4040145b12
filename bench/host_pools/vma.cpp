// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The one translation unit that has VMA's definitions. Its virtual blocks call no function of
// Vulkan.
#define VMA_IMPLEMENTATION
#define VMA_STATIC_VULKAN_FUNCTIONS 0
#define VMA_DYNAMIC_VULKAN_FUNCTIONS 0
#include <vk_mem_alloc.h>
