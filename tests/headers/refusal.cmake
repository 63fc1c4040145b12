# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Compiles SOURCE, which must fail with one message that matches MESSAGE.
# cmake -D COMPILER=... -D STANDARD=17|20 -D SOURCE=... -D INCLUDE=... -D MESSAGE=... -P refusal.cmake
execute_process(
  COMMAND ${COMPILER} -std=c++${STANDARD} -I ${INCLUDE} -c ${SOURCE} -o /dev/null
  RESULT_VARIABLE result
  ERROR_VARIABLE said
  OUTPUT_VARIABLE said
)
if(result EQUAL 0)
  message(FATAL_ERROR "${SOURCE} was accepted")
endif()
if(NOT said MATCHES "${MESSAGE}")
  message(FATAL_ERROR "no word of '${MESSAGE}': ${said}")
endif()
string(REGEX MATCHALL "error:" errors "${said}")
list(LENGTH errors count)
# A second one is the header that ends the compilation.
if(count GREATER 2)
  message(FATAL_ERROR "${count} errors: ${said}")
endif()
