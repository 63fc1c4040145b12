# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Writes PROGRAM.revision: the program's SHA-256, by which the tool knows whose record it is, and the
# `git describe` of `sources`, or `version` outside a checkout. A digest follows unless a commit
# tells all. With `built`, the program is a copy of that one, and so is what it was built from.
cmake_minimum_required(VERSION 3.25)

file(SHA256 ${program} digest)
if(built)
  file(READ ${built}.revision revision)
  string(REGEX REPLACE "^[0-9a-f]+ |\n" "" revision "${revision}")
else()
  set(revision "v${version}.")
  if(EXISTS ${sources}/.git)
    execute_process(
      COMMAND git --no-optional-locks -C ${sources} describe --always --tags --abbrev=12 --dirty
      TIMEOUT 30
      RESULT_VARIABLE status
      OUTPUT_VARIABLE revision
      ERROR_VARIABLE reason
      OUTPUT_STRIP_TRAILING_WHITESPACE
    )
    if(NOT status STREQUAL "0")
      message(NOTICE "The commit of ${program} is unknown: git: ${status}: ${reason}")
      set(revision "unknown.")
    endif()
  endif()
  string(SUBSTRING ${digest} 0 8 first_digits)
  string(REGEX REPLACE "(-dirty)$" "\\1." revision "${revision}")
  string(REGEX REPLACE "[.]$" ".${first_digits}" revision "${revision}")
endif()
file(WRITE ${program}.revision "${digest} ${revision}\n")
