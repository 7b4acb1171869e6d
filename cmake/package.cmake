# cpack makes, in the build folder, from the components of cmake/install.cmake:
#
#   metactrl_VERSION_ARCH.deb               the program, its models and domains, and llama.cpp's libraries
#   metactrl-dev_VERSION_ARCH.deb           the library, its headers and CMake package
#   metactrl-benchmarks_VERSION_ARCH.deb    the benchmarks' commands, when they are built (METACTRL_EVALUATION)
#   metactrl-VERSION-linux-MACHINE.tar.gz   all of it, to be unpacked anywhere
#
# scripts/package configures a build that is fit to be given to others, runs cpack and checks what comes out.
set(CPACK_GENERATOR DEB TGZ)
set(CPACK_PACKAGE_NAME metactrl)
set(CPACK_PACKAGE_VENDOR "Meta-Ctrl developers")
set(CPACK_PACKAGE_CONTACT "Meta-Ctrl developers <metactrl@localhost>")
string(TOLOWER "${CMAKE_SYSTEM_NAME}" metactrl_system)
set(CPACK_PACKAGE_FILE_NAME "metactrl-${PROJECT_VERSION}-${metactrl_system}-${CMAKE_SYSTEM_PROCESSOR}")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")  # each package has its own
set(CPACK_RESOURCE_FILE_LICENSE "${PROJECT_SOURCE_DIR}/LICENSE")
set(CPACK_STRIP_FILES ON)
# Whatever the umask of whoever packs.
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)

# One Debian package per group of components; the archive has them all.
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING ONE_PER_GROUP)
set(CPACK_COMPONENTS_ALL program runtime library)
set(CPACK_COMPONENT_PROGRAM_GROUP metactrl)
set(CPACK_COMPONENT_RUNTIME_GROUP metactrl)
set(CPACK_COMPONENT_LIBRARY_GROUP dev)
if(TARGET metactrl_benchmarks_program)
  list(APPEND CPACK_COMPONENTS_ALL benchmarks)
  set(CPACK_COMPONENT_BENCHMARKS_GROUP benchmarks)
endif()

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
# dpkg-shlibdeps asks what the programs are linked with; llama.cpp's libraries belong to no package that it knows.
find_program(METACTRL_SHLIBDEPS dpkg-shlibdeps)
if(METACTRL_SHLIBDEPS)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
  if(METACTRL_LLAMA_PINNED)
    set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS "${METACTRL_LLAMA_PINNED}/lib")
  endif()
  set(metactrl_debian_system "")
else()
  set(metactrl_debian_system "libc6, libgcc-s1, libstdc++6")
endif()

set(CPACK_DEBIAN_METACTRL_PACKAGE_NAME metactrl)
set(CPACK_DEBIAN_METACTRL_PACKAGE_DEPENDS "${metactrl_debian_system}")
# For `metactrl models add`.
set(CPACK_DEBIAN_METACTRL_PACKAGE_RECOMMENDS "ca-certificates, curl")
set(CPACK_DEBIAN_METACTRL_PACKAGE_SUGGESTS metactrl-benchmarks)
set(CPACK_DEBIAN_METACTRL_DESCRIPTION "plans from language models that keep the rules
metactrl sits between a language model and its next token and lets through
only what can still become a plan: well-formed text, actions whose
preconditions hold, a goal that is reached. It reads PDDL, runs GGUF models
and brings a small one with it.")

set(CPACK_DEBIAN_DEV_PACKAGE_NAME metactrl-dev)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEV_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS "metactrl (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_DEV_DESCRIPTION "plans from language models that keep the rules (library)
The C++20 library of metactrl: headers, a static library, and what CMake needs
to find them and llama.cpp, with which it runs models.")

set(CPACK_DEBIAN_BENCHMARKS_PACKAGE_NAME metactrl-benchmarks)
set(CPACK_DEBIAN_BENCHMARKS_PACKAGE_DEPENDS "metactrl (= ${PROJECT_VERSION})")
if(metactrl_debian_system)
  string(APPEND CPACK_DEBIAN_BENCHMARKS_PACKAGE_DEPENDS ", ${metactrl_debian_system}")
endif()
set(CPACK_DEBIAN_BENCHMARKS_DESCRIPTION "plans from language models that keep the rules (benchmarks)
The commands eval, score, reproduce and import of metactrl: answers to the
prompts of VirtualHome, BEHAVIOR and Watch-And-Help, and what their evaluators
say of them.")

# Debian wants to know of each package who wrote what is in it.
foreach(package IN ITEMS metactrl:program metactrl-dev:library metactrl-benchmarks:benchmarks)
  string(REPLACE ":" ";" package "${package}")
  list(GET package 0 name)
  list(GET package 1 component)
  if(component IN_LIST CPACK_COMPONENTS_ALL)
    install(FILES "${PROJECT_SOURCE_DIR}/cmake/copyright" DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/${name}"
      COMPONENT ${component})
  endif()
endforeach()

include(CPack)
