# MPI, by which several machines train one hidden Markov model. Sets METACTRL_HAVE_MPI, and when it is true the target MPI::MPI_CXX.
set(METACTRL_MPI AUTO CACHE STRING "Train hidden Markov models on several machines by MPI: ON, OFF, or AUTO (if it is found)")
set_property(CACHE METACTRL_MPI PROPERTY STRINGS AUTO ON OFF)

set(METACTRL_HAVE_MPI FALSE)
if(METACTRL_MPI AND METACTRL_CLI)
  set(MPI_CXX_SKIP_MPICXX TRUE)  # the C functions; the ones for C++ are long gone from the standard
  find_package(MPI 3.0 QUIET COMPONENTS CXX)
  if(MPI_CXX_FOUND)
    set(METACTRL_HAVE_MPI TRUE)
    message(STATUS "MPI ${MPI_CXX_VERSION}: ${MPI_CXX_COMPILER}")
  elseif(METACTRL_MPI STREQUAL "AUTO")
    message(STATUS "MPI: none, so training stays on one machine (Debian: libopenmpi-dev openmpi-bin)")
  else()
    message(FATAL_ERROR "MPI was not found (Debian: libopenmpi-dev openmpi-bin); configure with -DMETACTRL_MPI=OFF to do without")
  endif()
elseif(METACTRL_CLI)
  message(STATUS "MPI: off, so training stays on one machine")
endif()
