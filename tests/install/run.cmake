# Installs BUILD_DIR to a fresh prefix, and uses it as its reader would: builds and runs a project that plans, the example of
# README.md and those of metactrl.h as they stand there, and the program after the prefix was moved.
# Variables: BUILD_DIR, SOURCE_DIR, VERSION, CXX_COMPILER, WITH_MODELS, WITH_PROGRAM, WITH_BENCHMARKS,
# COMPONENTS (of the library, besides the core).
cmake_minimum_required(VERSION 3.23)
set(work "${BUILD_DIR}/install_test")
set(prefix "${work}/prefix")
file(REMOVE_RECURSE "${work}")

# run([IN folder] command...): leaves what it printed in `output`.
function(run)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "IN" "")
  if(NOT arg_IN)
    set(arg_IN "${work}")
  endif()
  execute_process(COMMAND ${arg_UNPARSED_ARGUMENTS} WORKING_DIRECTORY "${arg_IN}"
    RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "failed (${status}): ${arg_UNPARSED_ARGUMENTS}\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

# expect(what text): the last run printed the text.
function(expect what text)
  string(FIND "${output}" "${text}" at)
  if(at EQUAL -1)
    message(FATAL_ERROR "${what} printed\n${output}\nwithout '${text}'")
  endif()
endfunction()

file(MAKE_DIRECTORY "${work}")
run("${CMAKE_COMMAND}" --install "${BUILD_DIR}" --prefix "${prefix}")

# What is installed: every public header, nothing private, no flags of ours for the consumer.
separate_arguments(COMPONENTS)
file(GLOB_RECURSE public RELATIVE "${SOURCE_DIR}/include" "${SOURCE_DIR}/include/*")
foreach(component IN ITEMS training robot exchange c)
  if(NOT component IN_LIST COMPONENTS)
    list(FILTER public EXCLUDE REGEX "^metactrl/${component}[./]")
  endif()
endforeach()
file(GLOB_RECURSE installed RELATIVE "${prefix}/include" "${prefix}/include/*")
if(NOT public STREQUAL installed)
  message(FATAL_ERROR "headers in include/: ${public}\ninstalled: ${installed}\nlist new headers in src/CMakeLists.txt")
endif()
file(GLOB_RECURSE exported "${prefix}/*/metactrl-targets*.cmake")
if(NOT exported)
  message(FATAL_ERROR "no exported targets below ${prefix}")
endif()
foreach(file IN LISTS exported)
  file(READ "${file}" text)
  foreach(private "-Werror" "-Wall" "-fsanitize" "metactrl_flags" "${SOURCE_DIR}")
    string(FIND "${text}" "${private}" at)
    if(NOT at EQUAL -1)
      message(FATAL_ERROR "${file} gives '${private}' to the consumer")
    endif()
  endforeach()
endforeach()

# The example of README.md: its first block of C++.
file(READ "${SOURCE_DIR}/README.md" text)
string(FIND "${text}" "```cpp\n" begin)
if(begin EQUAL -1)
  message(FATAL_ERROR "README.md has no example: a block that begins with ```cpp")
endif()
math(EXPR begin "${begin} + 7")
string(SUBSTRING "${text}" ${begin} -1 text)
string(FIND "${text}" "```" end)
string(SUBSTRING "${text}" 0 ${end} text)
file(WRITE "${work}/examples/readme.cc" "${text}")

# Those of metactrl.h: the lines of its comment that are indented by four more than a line of text.
file(READ "${SOURCE_DIR}/include/metactrl/metactrl.h" text)
string(REPLACE ";" "{semicolon}" text "${text}")
string(REGEX MATCHALL "\n//     [^\n]*" lines "${text}")
list(TRANSFORM lines REPLACE "^\n//     " "  ")
list(JOIN lines "\n" EXAMPLE)
string(REPLACE "{semicolon}" ";" EXAMPLE "${EXAMPLE}")
if(NOT EXAMPLE MATCHES "load_pddl")
  message(FATAL_ERROR "metactrl.h has no example: lines of its comment that begin with five spaces")
endif()
configure_file("${SOURCE_DIR}/tests/install/umbrella.cc.in" "${work}/examples/umbrella.cc" @ONLY)

# A program of another project plans.
run("${CMAKE_COMMAND}" -S "${SOURCE_DIR}/tests/install" -B "${work}/consumer" "-DMETACTRL_EXAMPLES=${work}/examples"
  "-DMETACTRL_COMPONENTS=${COMPONENTS}" "-DCMAKE_PREFIX_PATH=${prefix}" "-DCMAKE_CXX_COMPILER=${CXX_COMPILER}" -DCMAKE_BUILD_TYPE=Release)
run("${CMAKE_COMMAND}" --build "${work}/consumer")
set(plan "(putin blue_mug dishwasher)")
set(how search)
if(WITH_MODELS)
  set(how)
endif()
run("${work}/consumer/consumer" "${prefix}/share/metactrl" ${how})
expect("the consumer" "${plan}")
expect("the consumer" "guarantee: full")

foreach(component IN LISTS COMPONENTS)
  run("${work}/consumer/${component}")
endforeach()

# The examples, in folders where the files are that they name.
set(tabletop "${prefix}/share/metactrl/domains/tabletop")
configure_file("${tabletop}/domain.pddl" "${work}/examples/domain.pddl" COPYONLY)
configure_file("${tabletop}/dishwasher.pddl" "${work}/examples/problem.pddl" COPYONLY)
run(IN "${work}/examples" "${work}/consumer/umbrella")
expect("the example of metactrl.h" "${plan}")
expect("the example of metactrl.h" "the goal is reached")
if(WITH_MODELS)
  run(IN "${SOURCE_DIR}" "${work}/consumer/readme")
  expect("the example of README.md" "${plan}")
endif()

if(WITH_PROGRAM)
  run("${prefix}/bin/metactrl" --version)
  expect("metactrl --version" "${VERSION}")
endif()

# metactrl finds the program of the benchmarks where it is installed, and that finds the models.
if(WITH_BENCHMARKS)
  run("${prefix}/bin/metactrl" score --help)
  expect("metactrl score --help" "--responses")
  run("${prefix}/libexec/metactrl/metactrl-benchmarks" models --output json)
  expect("metactrl-benchmarks models" "${prefix}/share/metactrl/models/pocket.gguf")
endif()

# Each component has its part: the program does without the others.
run("${CMAKE_COMMAND}" --install "${BUILD_DIR}" --prefix "${work}/program" --component program)
file(GLOB_RECURSE program RELATIVE "${work}/program" "${work}/program/*")
if(program MATCHES "\\.(h|a|cmake)(;|$)" OR program MATCHES "metactrl-benchmarks")
  message(FATAL_ERROR "the component 'program' has parts of others: ${program}")
endif()
if(WITH_PROGRAM AND NOT "bin/metactrl" IN_LIST program)
  message(FATAL_ERROR "the component 'program' has no bin/metactrl: ${program}")
endif()

# The prefix can be moved. What is installed plans with its own models, not with those of the checkout or of this user.
set(moved "${work}/moved prefix")
file(RENAME "${prefix}" "${moved}")
if(WITH_PROGRAM AND WITH_MODELS)
  set(metactrl "${CMAKE_COMMAND}" -E env --unset=METACTRL_MODELS "METACTRL_CACHE=${work}/no cache" "${moved}/bin/metactrl")
  set(task --domain "${moved}/share/metactrl/domains/tabletop/domain.pddl"
    --problem "${moved}/share/metactrl/domains/tabletop/dishwasher.pddl")
  run(${metactrl} plan ${task})
  expect("metactrl plan, moved" "${plan}")
  file(REMOVE_RECURSE "${moved}/share/metactrl/models")
  execute_process(COMMAND ${metactrl} plan ${task} WORKING_DIRECTORY "${work}"
    RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(status EQUAL 0)
    message(FATAL_ERROR "metactrl plans with a model that is not installed with it:\n${output}")
  endif()
  expect("metactrl plan without its models" "there is no such model")
endif()
