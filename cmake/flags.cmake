# metactrl_flags: how this project compiles its own code. Linked by every target here, exported to nobody.
add_library(metactrl_flags INTERFACE)
target_compile_features(metactrl_flags INTERFACE cxx_std_20)
target_compile_options(metactrl_flags INTERFACE
  -Wall -Wextra -Wnon-virtual-dtor -Woverloaded-virtual
  # GCC 12 reports overlapping copies inside std::string's own operator+ (GCC bug 105651).
  $<$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-restrict>
  $<$<BOOL:${METACTRL_WERROR}>:-Werror>)

if(METACTRL_DEVELOPER_MODE)
  # Options follow the build type's -DNDEBUG, so assertions are on in optimised builds too.
  target_compile_options(metactrl_flags INTERFACE -UNDEBUG)
  target_compile_definitions(metactrl_flags INTERFACE _GLIBCXX_ASSERTIONS)
endif()

if(METACTRL_SANITIZE)
  # GCC's flow warnings are unreliable in instrumented code.
  target_compile_options(metactrl_flags INTERFACE
    -fno-omit-frame-pointer -fsanitize=${METACTRL_SANITIZE} -fno-sanitize-recover=all
    $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  target_link_options(metactrl_flags INTERFACE -fsanitize=${METACTRL_SANITIZE})
endif()

if(METACTRL_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "METACTRL_FUZZ needs clang; configure with -DCMAKE_CXX_COMPILER=clang++ or use the preset 'fuzz'")
  endif()
  target_compile_options(metactrl_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()
