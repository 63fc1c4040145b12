# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Which commit a program was built from: the tool writes it into every row. The answer lies in a file
# beside the program, PROGRAM.revision, so that a new commit compiles and links nothing again.

set(_warpheap_record_revision ${CMAKE_CURRENT_LIST_DIR}/record_revision.cmake)

# Records the state of the sources whenever a target is linked: they are those that it consists of.
function(warpheap_record_revision target)
  add_custom_command(
    TARGET ${target}
    POST_BUILD
    COMMAND
      ${CMAKE_COMMAND} -D program=$<TARGET_FILE:${target}> -D sources=${PROJECT_SOURCE_DIR} -D
      version=${PROJECT_VERSION} -P ${_warpheap_record_revision}
    VERBATIM
  )
endfunction()

# Installs the record of a target: after the target, which installing may strip.
function(warpheap_install_revision target destination component)
  install(
    CODE
      "set(program \"${destination}/$<TARGET_FILE_NAME:${target}>\")
cmake_path(ABSOLUTE_PATH program BASE_DIRECTORY \"\${CMAKE_INSTALL_PREFIX}\" NORMALIZE)
set(program \"\$ENV{DESTDIR}\${program}\")
set(built \"$<TARGET_FILE:${target}>\")
include(\"${_warpheap_record_revision}\")"
    COMPONENT ${component}
  )
endfunction()
