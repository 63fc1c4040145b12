# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Compiles warpheap.hpp for C++17, which must fail with one message that says what is needed.
# cmake -D COMPILER=... -D SOURCE=... -D INCLUDE=... -P old_standard.cmake
execute_process(
  COMMAND ${COMPILER} -std=c++17 -I ${INCLUDE} -c ${SOURCE} -o /dev/null
  RESULT_VARIABLE result
  ERROR_VARIABLE said
  OUTPUT_VARIABLE said
)
if(result EQUAL 0)
  message(FATAL_ERROR "C++17 was accepted")
endif()
if(NOT said MATCHES "#error \"?warpheap needs C\\+\\+20")
  message(FATAL_ERROR "no word of C++20: ${said}")
endif()
string(REGEX MATCHALL "error:" errors "${said}")
list(LENGTH errors count)
# The second one is the header that ends the compilation.
if(count GREATER 2)
  message(FATAL_ERROR "${count} errors: ${said}")
endif()
