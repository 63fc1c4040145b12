# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Installs the headers, the shared library of the pools, the CPU executor where it is built, and the
# package that find_package(warpheap) reads. The headers are a component of their own: they need no
# library, so a CUDA user can have them alone. The Python wheel has the library as well and, where
# they could be built, the programs of the CPU model.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(_package_dir ${CMAKE_INSTALL_DATADIR}/cmake/warpheap)

install(
  DIRECTORY ${PROJECT_SOURCE_DIR}/include/warpheap
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  COMPONENT headers
  FILES_MATCHING
  PATTERN "*.hpp"
  PATTERN "*.h"
)
# What warpheap::malloc is compiled from, with the compiler and for the GPUs of the program that
# links it.
set(_malloc_dir ${CMAKE_INSTALL_DATADIR}/warpheap/malloc)
install(
  DIRECTORY ${PROJECT_SOURCE_DIR}/src/malloc/cuda/
  DESTINATION ${_malloc_dir}
  COMPONENT headers
)
install(
  FILES ${CMAKE_CURRENT_LIST_DIR}/WarpheapMalloc.cmake
  DESTINATION ${_package_dir}
  COMPONENT headers
)
install(TARGETS warpheap EXPORT warpheap-headers)
install(EXPORT warpheap-headers NAMESPACE warpheap:: DESTINATION ${_package_dir} COMPONENT headers)
install(TARGETS warpheap_c LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT pools)
warpheap_install_revision(warpheap_c ${CMAKE_INSTALL_LIBDIR} pools)
add_custom_target(warpheap_wheel)
add_dependencies(warpheap_wheel warpheap_c)
if(TARGET warpheap-bench-cpu)
  install(
    TARGETS warpheap-bench-cpu warpheap-verify
    RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT programs
  )
  warpheap_install_revision(warpheap-bench-cpu ${CMAKE_INSTALL_BINDIR} programs)
  add_dependencies(warpheap_wheel warpheap-bench-cpu warpheap-verify)
endif()
if(TARGET warpheap::cpu)
  get_target_property(_cpu warpheap::cpu ALIASED_TARGET)
  set_target_properties(${_cpu} PROPERTIES EXPORT_NAME cpu)
  install(
    TARGETS ${_cpu}
    EXPORT warpheap-cpu
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT cpu
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT cpu
  )
  # Beside the package file and not in lib*/cmake, so that one folder holds the whole package.
  install(EXPORT warpheap-cpu NAMESPACE warpheap:: DESTINATION ${_package_dir} COMPONENT cpu)
endif()

# As a source: it is compiled for the GPUs of its user.
install(
  FILES
    ${PROJECT_SOURCE_DIR}/src/heap/cuda/make_cuda_heap.cu
    ${CMAKE_CURRENT_LIST_DIR}/WarpheapCudaHeap.cmake
  DESTINATION ${_package_dir}
  COMPONENT headers
)

configure_package_config_file(
  ${CMAKE_CURRENT_LIST_DIR}/warpheap-config.cmake.in
  ${PROJECT_BINARY_DIR}/warpheap-config.cmake
  INSTALL_DESTINATION ${_package_dir}
  NO_CHECK_REQUIRED_COMPONENTS_MACRO
)
write_basic_package_version_file(
  ${PROJECT_BINARY_DIR}/warpheap-config-version.cmake
  COMPATIBILITY SameMinorVersion
  ARCH_INDEPENDENT
)
install(
  FILES
    ${PROJECT_BINARY_DIR}/warpheap-config.cmake
    ${PROJECT_BINARY_DIR}/warpheap-config-version.cmake
  DESTINATION ${_package_dir}
  COMPONENT headers
)
# For builds without CMake: pkg-config --cflags warpheap.
configure_file(${CMAKE_CURRENT_LIST_DIR}/warpheap.pc.in ${PROJECT_BINARY_DIR}/warpheap.pc @ONLY)
install(
  FILES ${PROJECT_BINARY_DIR}/warpheap.pc
  DESTINATION ${CMAKE_INSTALL_DATADIR}/pkgconfig
  COMPONENT headers
)
install(
  # The second says to the tool what the fields of rows mean that come without a description.
  FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/results/fields.json
  DESTINATION ${CMAKE_INSTALL_DATADIR}/warpheap
  COMPONENT headers
)
