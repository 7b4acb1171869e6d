# What most files read of the standard library; with METACTRL_PRECOMPILED once for all of them.
set(METACTRL_STANDARD_HEADERS
  <algorithm> <array> <charconv> <chrono> <cmath> <filesystem> <functional> <limits> <map> <memory> <mutex> <numeric> <optional>
  <ranges> <set> <span> <sstream> <stdexcept> <string> <string_view> <thread> <unordered_map> <utility> <variant> <vector>)

# metactrl_add_module(name SOURCES file... [DEPENDS module...] [PACKAGES target...] [COMPONENT name | TOP] [LIGHT])
#
# Makes the folder src/<name> a library `metactrl_<name>` of its own, so that a test links only what it tests and a
# dependency in the wrong direction does not link. SOURCES are relative to src/<name>; headers need not be listed.
# DEPENDS names modules below this one, PACKAGES imported targets of other projects.
# The objects of all modules are also collected in the libraries that users link: libmetactrl.a, the core, or that of their
# COMPONENT, which then needs the PACKAGES too: cmake/metactrl-config.cmake.in must find them. A TOP module is left out of
# them: it belongs to a program. A LIGHT one waits and talks more than it computes: optimising it would be a quarter of what
# it costs to compile, and nobody would notice.
function(metactrl_add_module name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "TOP;LIGHT" "COMPONENT" "SOURCES;DEPENDS;PACKAGES")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "metactrl_add_module(${name}): unknown arguments '${arg_UNPARSED_ARGUMENTS}'")
  endif()
  list(TRANSFORM arg_SOURCES PREPEND "${PROJECT_SOURCE_DIR}/src/${name}/")
  list(TRANSFORM arg_DEPENDS PREPEND "metactrl_")

  add_library(metactrl_${name}_objects OBJECT ${arg_SOURCES})
  set_target_properties(metactrl_${name}_objects PROPERTIES
    CXX_EXTENSIONS OFF
    POSITION_INDEPENDENT_CODE ON
    UNITY_BUILD ${METACTRL_UNITY}
    UNITY_BUILD_BATCH_SIZE ${METACTRL_UNITY_FILES})
  if(arg_LIGHT)
    target_compile_options(metactrl_${name}_objects PRIVATE $<$<CONFIG:Release>:-O1>)
    # Most of an instrumented build would be spent on it.
    if(METACTRL_SANITIZE)
      target_compile_options(metactrl_${name}_objects PRIVATE -O0)
    endif()
  endif()
  if(METACTRL_PRECOMPILED)
    # The first module of each kind reads them, since what is optimised otherwise cannot use them.
    get_property(owner GLOBAL PROPERTY METACTRL_PRECOMPILED_BY_${arg_LIGHT})
    if(owner)
      target_precompile_headers(metactrl_${name}_objects REUSE_FROM ${owner})
    else()
      target_precompile_headers(metactrl_${name}_objects PRIVATE ${METACTRL_STANDARD_HEADERS})
      set_property(GLOBAL PROPERTY METACTRL_PRECOMPILED_BY_${arg_LIGHT} metactrl_${name}_objects)
    endif()
  endif()
  # Kernels are templates for one file's constants; and CUDA's compiler is not slow for its headers.
  set(kernels ${arg_SOURCES})
  list(FILTER kernels INCLUDE REGEX "\\.cu$")
  set_source_files_properties(${kernels} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  target_include_directories(metactrl_${name}_objects PUBLIC "${PROJECT_SOURCE_DIR}/include" "${PROJECT_SOURCE_DIR}/src")
  target_link_libraries(metactrl_${name}_objects PUBLIC metactrl_flags ${arg_PACKAGES})

  add_library(metactrl_${name} STATIC EXCLUDE_FROM_ALL $<TARGET_OBJECTS:metactrl_${name}_objects>)
  set_target_properties(metactrl_${name} PROPERTIES LINKER_LANGUAGE CXX)
  target_include_directories(metactrl_${name} PUBLIC "${PROJECT_SOURCE_DIR}/include" "${PROJECT_SOURCE_DIR}/src")
  target_link_libraries(metactrl_${name} PUBLIC ${arg_DEPENDS} metactrl_flags ${arg_PACKAGES})

  set_property(GLOBAL APPEND PROPERTY METACTRL_ALL_MODULES ${name})
  if(NOT arg_TOP)
    set_property(GLOBAL APPEND PROPERTY METACTRL_MODULES_${arg_COMPONENT} ${name})
    set_property(GLOBAL APPEND PROPERTY METACTRL_PACKAGES_${arg_COMPONENT} ${arg_PACKAGES})
  endif()
endfunction()

# The library `target` from the modules of a component declared so far; "" is the core. HEADERS are relative to `folder`.
function(metactrl_collect target component folder)
  cmake_parse_arguments(PARSE_ARGV 3 arg "" "" "HEADERS")
  list(TRANSFORM arg_HEADERS PREPEND "${folder}/")
  get_property(modules GLOBAL PROPERTY METACTRL_MODULES_${component})
  get_property(packages GLOBAL PROPERTY METACTRL_PACKAGES_${component})
  add_library(${target} STATIC)
  foreach(module IN LISTS modules)
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:metactrl_${module}_objects>)
  endforeach()
  target_sources(${target} PUBLIC FILE_SET HEADERS BASE_DIRS "${PROJECT_SOURCE_DIR}/include" FILES ${arg_HEADERS})
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_link_libraries(${target} PRIVATE ${packages})
  set_target_properties(${target} PROPERTIES
    LINKER_LANGUAGE CXX
    ARCHIVE_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}"
    # The target all_verify_interface_header_sets compiles each public header alone.
    VERIFY_INTERFACE_HEADER_SETS ${METACTRL_DEVELOPER_MODE})
  set_property(GLOBAL APPEND PROPERTY METACTRL_LIBRARIES ${target})
endfunction()

# metactrl_add_library(HEADERS file...): the core, metactrl::metactrl; headers are relative to include/metactrl.
function(metactrl_add_library)
  metactrl_collect(metactrl "" "${PROJECT_SOURCE_DIR}/include/metactrl" ${ARGV})
  add_library(metactrl::metactrl ALIAS metactrl)
endfunction()

# metactrl_add_component(name HEADERS file...): metactrl::name, which uses the core; headers are relative to
# include/metactrl/<name>.
function(metactrl_add_component name)
  metactrl_collect(metactrl_component_${name} ${name} "${PROJECT_SOURCE_DIR}/include/metactrl/${name}" ${ARGN})
  add_library(metactrl::${name} ALIAS metactrl_component_${name})
  set_target_properties(metactrl_component_${name} PROPERTIES OUTPUT_NAME metactrl_${name} EXPORT_NAME ${name})
  target_link_libraries(metactrl_component_${name} PUBLIC metactrl)
endfunction()

# metactrl_add_shared_component(name ABI number EXPORTS file HEADERS file...): metactrl::name, one shared library with the core in
# it. EXPORTS, relative to src/<name>, is the linker's list of its symbols with their versions; no other is seen from outside.
# Its interface is C, so headers are relative to include/metactrl.
function(metactrl_add_shared_component name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "ABI;EXPORTS" "HEADERS")
  set(target metactrl_component_${name})
  set(exports "${PROJECT_SOURCE_DIR}/src/${name}/${arg_EXPORTS}")
  list(TRANSFORM arg_HEADERS PREPEND "${PROJECT_SOURCE_DIR}/include/metactrl/")
  get_property(modules GLOBAL PROPERTY METACTRL_MODULES_${name})
  add_library(${target} SHARED)
  foreach(module IN LISTS modules)
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:metactrl_${module}_objects>)
  endforeach()
  target_sources(${target} PUBLIC FILE_SET HEADERS BASE_DIRS "${PROJECT_SOURCE_DIR}/include" FILES ${arg_HEADERS})
  target_link_libraries(${target} PRIVATE metactrl metactrl_flags)
  target_link_options(${target} PRIVATE "LINKER:--version-script=${exports}" "LINKER:--exclude-libs=ALL")
  if(NOT METACTRL_SANITIZE AND NOT METACTRL_FUZZ)
    # What an instrumented library needs may be in the program alone.
    target_link_options(${target} PRIVATE "LINKER:-z,defs")
  endif()
  set_target_properties(${target} PROPERTIES
    LINKER_LANGUAGE CXX
    LINK_DEPENDS "${exports}"
    OUTPUT_NAME metactrl_${name}
    EXPORT_NAME ${name}
    SOVERSION ${arg_ABI}
    VERSION ${arg_ABI}.${PROJECT_VERSION}
    LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}"
    VERIFY_INTERFACE_HEADER_SETS ${METACTRL_DEVELOPER_MODE})
  add_library(metactrl::${name} ALIAS ${target})
  set_property(GLOBAL APPEND PROPERTY METACTRL_LIBRARIES ${target})
endfunction()
