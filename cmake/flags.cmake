# metactrl_flags: how this project compiles its own code. Linked by every target here, exported to nobody.
add_library(metactrl_flags INTERFACE)
target_compile_features(metactrl_flags INTERFACE cxx_std_20)
set(metactrl_warnings -Wall -Wextra -Wnon-virtual-dtor -Woverloaded-virtual)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # GCC 12 reports overlapping copies inside std::string's own operator+ (GCC bug 105651).
  list(APPEND metactrl_warnings -Wno-restrict)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 13)
  # Newer ones suspect every function that takes a temporary and returns a reference, such as a look-up by name.
  list(APPEND metactrl_warnings -Wno-dangling-reference)
endif()
if(METACTRL_UNITY AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # A class that only one .cc file knows may hold what that file keeps to itself; GCC knows this of main files alone.
  list(APPEND metactrl_warnings -Wno-subobject-linkage)
endif()
if(METACTRL_WERROR)
  list(APPEND metactrl_warnings -Werror)
endif()
# CUDA's compiler knows none of these.
target_compile_options(metactrl_flags INTERFACE "$<$<NOT:$<COMPILE_LANGUAGE:CUDA>>:${metactrl_warnings}>")

# GCC's collector of garbage starts over and over in a translation unit of this size, and frees little.
target_compile_options(metactrl_flags INTERFACE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:--param=ggc-min-heapsize=1000000>)

if(METACTRL_PRECOMPILED)
  # Compiler caches keep what was precompiled only if it is the same each time, and says what it was made from.
  target_compile_options(metactrl_flags INTERFACE
    $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fpch-preprocess>
    "$<$<COMPILE_LANG_AND_ID:CXX,Clang,AppleClang>:SHELL:-Xclang -fno-pch-timestamp>")
endif()

if(METACTRL_DEVELOPER_MODE)
  # Options follow the build type's -DNDEBUG, so assertions are on in optimised builds too.
  target_compile_options(metactrl_flags INTERFACE -UNDEBUG)
  target_compile_definitions(metactrl_flags INTERFACE _GLIBCXX_ASSERTIONS)
  # There are a hundred test programs to link.
  find_program(METACTRL_MOLD mold)
  if(METACTRL_MOLD)
    target_link_options(metactrl_flags INTERFACE -fuse-ld=mold)
  endif()
endif()

if(METACTRL_SANITIZE)
  # GCC's flow warnings are unreliable in instrumented code.
  target_compile_options(metactrl_flags INTERFACE
    -fno-omit-frame-pointer -fsanitize=${METACTRL_SANITIZE} -fno-sanitize-recover=all
    $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  target_link_options(metactrl_flags INTERFACE -fsanitize=${METACTRL_SANITIZE})
endif()

if(METACTRL_COVERAGE)
  # Tests with threads count, too.
  target_compile_options(metactrl_flags INTERFACE --coverage -fprofile-update=atomic)
  target_link_options(metactrl_flags INTERFACE --coverage)
endif()

if(METACTRL_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "METACTRL_FUZZ needs clang; configure with -DCMAKE_CXX_COMPILER=clang++ or use the preset 'fuzz'")
  endif()
  target_compile_options(metactrl_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()
