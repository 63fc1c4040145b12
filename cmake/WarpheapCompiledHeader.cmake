# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
include_guard(GLOBAL)

# warpheap_precompile(TARGET HOW...): gives the target a compiled header, as target_precompile_headers
# does, and ccache what it asks for to know that by its content; tools/shell/build.sh sets the rest.
function(warpheap_precompile target)
  target_precompile_headers(${target} ${ARGN})
  target_compile_options(
    ${target}
    PRIVATE
      $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fpch-preprocess>
      "$<$<COMPILE_LANG_AND_ID:CXX,Clang>:SHELL:-Xclang -fno-pch-timestamp>"
  )
endfunction()
