# cmake --install, in components:
#
#   program     bin/metactrl, share/metactrl/{domains,models}
#   benchmarks  libexec/metactrl/metactrl-benchmarks
#   library     include/metactrl, lib/libmetactrl*.a, lib/libmetactrl_c.so, lib/cmake/metactrl, share/metactrl/adapters; what a compiler needs of
#               lib/metactrl/llama
#   runtime     lib/metactrl/llama/lib/*.so, which all of the above need to run
#
# lib/metactrl/llama is there when llama.cpp comes from scripts/llama, so that what is installed does not depend on a cache.
# Programs find it, their models and each other by paths relative to themselves: the prefix may be moved.
include(CMakePackageConfigHelpers)

set(METACTRL_CMAKE_DIR "${CMAKE_INSTALL_LIBDIR}/cmake/metactrl")

get_property(metactrl_libraries GLOBAL PROPERTY METACTRL_LIBRARIES)
install(TARGETS ${metactrl_libraries} EXPORT metactrl_targets COMPONENT library
  ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT library
  LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT library
  FILE_SET HEADERS DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT library)
install(EXPORT metactrl_targets NAMESPACE metactrl:: FILE metactrl-targets.cmake DESTINATION "${METACTRL_CMAKE_DIR}"
  COMPONENT library)

configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/metactrl-config.cmake.in"
  "${PROJECT_BINARY_DIR}/metactrl-config.cmake" INSTALL_DESTINATION "${METACTRL_CMAKE_DIR}")
# Before 1.0 a minor version may change the interface.
write_basic_package_version_file("${PROJECT_BINARY_DIR}/metactrl-config-version.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/metactrl-config.cmake" "${PROJECT_BINARY_DIR}/metactrl-config-version.cmake"
  DESTINATION "${METACTRL_CMAKE_DIR}" COMPONENT library)

if(METACTRL_LLAMA_PINNED)
  set(METACTRL_LLAMA_DIR "${CMAKE_INSTALL_LIBDIR}/metactrl/llama")
  install(DIRECTORY "${METACTRL_LLAMA_PINNED}/include" DESTINATION "${METACTRL_LLAMA_DIR}" COMPONENT library)
  install(DIRECTORY "${METACTRL_LLAMA_PINNED}/lib" DESTINATION "${METACTRL_LLAMA_DIR}" COMPONENT library
    PATTERN "*.so" EXCLUDE)
  # None where it was built from source: then it is in the programs.
  file(GLOB metactrl_llama_shared "${METACTRL_LLAMA_PINNED}/lib/*.so")
  install(FILES ${metactrl_llama_shared} DESTINATION "${METACTRL_LLAMA_DIR}/lib" COMPONENT runtime)
  install(FILES "${METACTRL_LLAMA_PINNED}/share/metactrl-llama/LICENSE" DESTINATION "${METACTRL_LLAMA_DIR}" COMPONENT runtime)
endif()

if(TARGET metactrl_component_c)
  if(METACTRL_LLAMA_PINNED)
    set_target_properties(metactrl_component_c PROPERTIES INSTALL_RPATH "$ORIGIN/metactrl/llama/lib")
  else()
    set_target_properties(metactrl_component_c PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)
  endif()
endif()

# metactrl_install_program(target folder component): with the way from its folder to llama.cpp's libraries in it.
function(metactrl_install_program target folder component)
  if(METACTRL_LLAMA_PINNED)
    file(RELATIVE_PATH libraries "/${folder}" "/${METACTRL_LLAMA_DIR}/lib")
    set_target_properties(${target} PROPERTIES INSTALL_RPATH "$ORIGIN/${libraries}")
  else()
    set_target_properties(${target} PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)
  endif()
  install(TARGETS ${target} RUNTIME DESTINATION "${folder}" COMPONENT ${component})
endfunction()
if(TARGET metactrl_program)
  metactrl_install_program(metactrl_program "${CMAKE_INSTALL_BINDIR}" program)
endif()
if(TARGET metactrl_benchmarks_program)
  metactrl_install_program(metactrl_benchmarks_program "${CMAKE_INSTALL_LIBEXECDIR}/metactrl" benchmarks)
endif()
install(DIRECTORY "${PROJECT_SOURCE_DIR}/domains/" DESTINATION "${CMAKE_INSTALL_DATADIR}/metactrl/domains"
  COMPONENT program)
install(FILES "${PROJECT_SOURCE_DIR}/models/pocket.gguf" "${PROJECT_SOURCE_DIR}/models/pocket/README.md"
  DESTINATION "${CMAKE_INSTALL_DATADIR}/metactrl/models" COMPONENT program)
