# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Decides whether the CUDA half is built: WARPHEAP_WITH_CUDA.
set(WARPHEAP_WITH_CUDA OFF)
if(WARPHEAP_CUDA STREQUAL "ON" OR WARPHEAP_CUDA STREQUAL "AUTO")
  include(CheckLanguage)
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
      set(CMAKE_CUDA_ARCHITECTURES 75-virtual 90-real)
    endif()
    enable_language(CUDA)
    set(CMAKE_CUDA_STANDARD 20)
    # CMake 3.25.1 (Debian 12) does not know that nvcc has C++20 and would leave out the option.
    if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
      set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
      set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION -std=c++20)
    endif()
    if(CMAKE_CUDA_COMPILER_VERSION VERSION_LESS 12.4)
      message(
        FATAL_ERROR
        "nvcc ${CMAKE_CUDA_COMPILER_VERSION} is too old: 12.4 is the oldest "
        "that warpheap is written for; configure with -DWARPHEAP_CUDA=OFF to leave CUDA out"
      )
    endif()
    # Where nothing will run, code that is hardly optimised does, and takes far less time to compile.
    option(WARPHEAP_CUDA_FAST_COMPILE "Spend little time on optimising device code" OFF)
    if(WARPHEAP_CUDA_FAST_COMPILE)
      include(CheckCompilerFlag)
      check_compiler_flag(CUDA "-Ofc=max" WARPHEAP_NVCC_HAS_FAST_COMPILE)
      if(WARPHEAP_NVCC_HAS_FAST_COMPILE)
        string(APPEND CMAKE_CUDA_FLAGS " -Ofc=max")
      endif()
    endif()
    set(WARPHEAP_WITH_CUDA ON)
  elseif(WARPHEAP_CUDA STREQUAL "ON")
    message(FATAL_ERROR "WARPHEAP_CUDA is ON and no nvcc was found; set CUDACXX")
  endif()
endif()
