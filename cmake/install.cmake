# cmake --install: include/metactrl, lib/libmetactrl.a, lib/cmake/metactrl, bin/metactrl, share/metactrl/{domains,models}; lib/metactrl/llama,
# when llama.cpp was built by scripts/llama, so that what is installed does not depend on a cache.
include(CMakePackageConfigHelpers)

set(METACTRL_CMAKE_DIR "${CMAKE_INSTALL_LIBDIR}/cmake/metactrl")

install(TARGETS metactrl EXPORT metactrl_targets
  ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}"
  FILE_SET HEADERS DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(EXPORT metactrl_targets NAMESPACE metactrl:: FILE metactrl-targets.cmake DESTINATION "${METACTRL_CMAKE_DIR}")

configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/metactrl-config.cmake.in"
  "${PROJECT_BINARY_DIR}/metactrl-config.cmake" INSTALL_DESTINATION "${METACTRL_CMAKE_DIR}")
# Before 1.0 a minor version may change the interface.
write_basic_package_version_file("${PROJECT_BINARY_DIR}/metactrl-config-version.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/metactrl-config.cmake" "${PROJECT_BINARY_DIR}/metactrl-config-version.cmake"
  DESTINATION "${METACTRL_CMAKE_DIR}")

if(METACTRL_LLAMA_PINNED)
  foreach(folder IN ITEMS include lib)
    install(DIRECTORY "${METACTRL_LLAMA_PINNED}/${folder}" DESTINATION "${CMAKE_INSTALL_LIBDIR}/metactrl/llama")
  endforeach()
  install(FILES "${METACTRL_LLAMA_PINNED}/share/metactrl-llama/LICENSE"
    DESTINATION "${CMAKE_INSTALL_LIBDIR}/metactrl/llama")
endif()

if(TARGET metactrl_program)
  install(TARGETS metactrl_program RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
endif()
install(DIRECTORY "${PROJECT_SOURCE_DIR}/domains/" DESTINATION "${CMAKE_INSTALL_DATADIR}/metactrl/domains")
install(FILES "${PROJECT_SOURCE_DIR}/models/pocket.gguf" "${PROJECT_SOURCE_DIR}/models/pocket/README.md"
  DESTINATION "${CMAKE_INSTALL_DATADIR}/metactrl/models")
