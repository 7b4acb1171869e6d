# llama.cpp, which runs GGUF models: an installed one when it is recent enough, otherwise the one that scripts/llama left in the cache.
#
# Sets METACTRL_HAVE_LLAMA, and when it is true the target `llama`; METACTRL_LLAMA_PINNED is the prefix of the one from scripts/llama
# if that is the one in use, and METACTRL_LLAMA_VOCABULARIES the folder with vocabulary-only GGUF files if there is one.
set(METACTRL_LLAMA AUTO CACHE STRING "Run GGUF models through llama.cpp: ON, OFF, or AUTO (if it is found)")
set_property(CACHE METACTRL_LLAMA PROPERTY STRINGS AUTO ON OFF)
set(METACTRL_LLAMA_PREFIX "" CACHE PATH "Where llama.cpp is, if another is wanted than the installed one or the one of scripts/llama")

# The oldest version that has all functions in use; below is a check of some of them, for builds that carry no version.
set(METACTRL_LLAMA_MINIMUM 0.5)

# Where scripts/llama leaves things: the two must agree.
file(STRINGS "${PROJECT_SOURCE_DIR}/cmake/llama.pins" metactrl_llama_pin REGEX "^version ")
string(REGEX REPLACE "^version +" "" metactrl_llama_version "${metactrl_llama_pin}")
if(NOT "$ENV{METACTRL_CACHE}" STREQUAL "")
  set(metactrl_cache "$ENV{METACTRL_CACHE}")
elseif(NOT "$ENV{XDG_CACHE_HOME}" STREQUAL "")
  set(metactrl_cache "$ENV{XDG_CACHE_HOME}/metactrl")
else()
  set(metactrl_cache "$ENV{HOME}/.cache/metactrl")
endif()
set(metactrl_cached_llama "${metactrl_cache}/llama.cpp-${metactrl_llama_version}")

set(METACTRL_HAVE_LLAMA FALSE)
set(METACTRL_LLAMA_PINNED "")
set(METACTRL_LLAMA_VOCABULARIES "")
if(EXISTS "${metactrl_cached_llama}-vocabularies/complete")
  set(METACTRL_LLAMA_VOCABULARIES "${metactrl_cached_llama}-vocabularies")
endif()

if(METACTRL_LLAMA)
  if(METACTRL_LLAMA_PREFIX)
    unset(llama_DIR CACHE)
    find_package(llama ${METACTRL_LLAMA_MINIMUM} QUIET PATHS "${METACTRL_LLAMA_PREFIX}" NO_DEFAULT_PATH)
  else()
    find_package(llama ${METACTRL_LLAMA_MINIMUM} QUIET)
    foreach(kind IN ITEMS "" -source)
      set(metactrl_prefix "${metactrl_cached_llama}-${CMAKE_HOST_SYSTEM_PROCESSOR}${kind}")
      if(NOT llama_FOUND AND EXISTS "${metactrl_prefix}/complete")
        find_package(llama ${METACTRL_LLAMA_MINIMUM} QUIET PATHS "${metactrl_prefix}" NO_DEFAULT_PATH)
      endif()
    endforeach()
  endif()

  if(llama_FOUND)
    # Asks for a C standard, which a project without C cannot give.
    set_property(TARGET llama PROPERTY INTERFACE_COMPILE_FEATURES "")
    include(CheckCXXSourceCompiles)
    set(CMAKE_REQUIRED_INCLUDES "${LLAMA_INCLUDE_DIR}")
    set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
    check_cxx_source_compiles("
      #include <llama.h>
      int main() {
        llama_context_params params = llama_context_default_params();
        params.kv_unified = params.swa_full = true;
        params.n_outputs_max = 1;
        llama_memory_seq_cp(llama_get_memory(nullptr), 0, 1, -1, -1);
        return llama_model_is_hybrid(nullptr) + llama_model_n_swa(nullptr) + (llama_version() != nullptr);
      }" METACTRL_LLAMA_SUFFICES)
    unset(CMAKE_TRY_COMPILE_TARGET_TYPE)
    unset(CMAKE_REQUIRED_INCLUDES)
    if(METACTRL_LLAMA_SUFFICES)
      set(METACTRL_HAVE_LLAMA TRUE)
    endif()
  endif()

  if(METACTRL_HAVE_LLAMA)
    get_filename_component(metactrl_llama_prefix "${llama_DIR}/../../.." ABSOLUTE)
    if(EXISTS "${metactrl_llama_prefix}/complete")
      set(METACTRL_LLAMA_PINNED "${metactrl_llama_prefix}")
    endif()
    message(STATUS "llama.cpp ${llama_VERSION}: ${metactrl_llama_prefix}")
  elseif(METACTRL_LLAMA STREQUAL "AUTO")
    message(STATUS "llama.cpp: none, so GGUF models cannot be used; scripts/llama gets it")
  else()
    message(FATAL_ERROR "llama.cpp ${METACTRL_LLAMA_MINIMUM} or newer was not found; run scripts/llama, set METACTRL_LLAMA_PREFIX, or "
      "configure with -DMETACTRL_LLAMA=OFF")
  endif()
endif()
