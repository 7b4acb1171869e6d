# cmake --install, in components:
#
#   program     bin/metactrl, share/metactrl/{domains,models}
#   benchmarks  libexec/metactrl/metactrl-benchmarks
#   library     include/metactrl, lib/libmetactrl.a, lib/cmake/metactrl, share/metactrl/adapters; lib/metactrl/llama, when
#               llama.cpp was built by scripts/llama, so that what is installed does not depend on a cache
include(CMakePackageConfigHelpers)

set(METACTRL_CMAKE_DIR "${CMAKE_INSTALL_LIBDIR}/cmake/metactrl")

install(TARGETS metactrl EXPORT metactrl_targets COMPONENT library
  ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT library
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
  foreach(folder IN ITEMS include lib)
    install(DIRECTORY "${METACTRL_LLAMA_PINNED}/${folder}" DESTINATION "${CMAKE_INSTALL_LIBDIR}/metactrl/llama"
      COMPONENT library)
  endforeach()
  install(FILES "${METACTRL_LLAMA_PINNED}/share/metactrl-llama/LICENSE"
    DESTINATION "${CMAKE_INSTALL_LIBDIR}/metactrl/llama" COMPONENT library)
endif()

if(TARGET metactrl_program)
  install(TARGETS metactrl_program RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT program)
endif()
if(TARGET metactrl_benchmarks_program)
  install(TARGETS metactrl_benchmarks_program RUNTIME DESTINATION "${CMAKE_INSTALL_LIBEXECDIR}/metactrl"
    COMPONENT benchmarks)
endif()
install(DIRECTORY "${PROJECT_SOURCE_DIR}/domains/" DESTINATION "${CMAKE_INSTALL_DATADIR}/metactrl/domains"
  COMPONENT program)
install(FILES "${PROJECT_SOURCE_DIR}/models/pocket.gguf" "${PROJECT_SOURCE_DIR}/models/pocket/README.md"
  DESTINATION "${CMAKE_INSTALL_DATADIR}/metactrl/models" COMPONENT program)
