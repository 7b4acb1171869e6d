# Puts text files into the library, so that it needs none of them when it runs.
#
# metactrl_embed(target FUNCTION name HEADER header TYPE type NAMESPACE namespace [BASE folder] FILES file...)
#
# adds a generated source to `target`. `header`, in src/, declares in `namespace`
#
#     struct type { std::string_view name; std::string_view text; };
#     std::span<const type> name();
#
# and the generated source defines the function: one element per file, in the order of FILES. Its name is the file's
# name without folder and extension, or with BASE its path below that folder. The source is made again when a file changes.
#
# The same file is the script that writes the source: cmake -D OUTPUT=... -D FILES=... -P embed.cmake

if(NOT CMAKE_SCRIPT_MODE_FILE)
  set(METACTRL_EMBED_SCRIPT "${CMAKE_CURRENT_LIST_FILE}")

  function(metactrl_embed target)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "FUNCTION;HEADER;TYPE;NAMESPACE;BASE" "FILES")
    if(arg_UNPARSED_ARGUMENTS OR NOT arg_FUNCTION OR NOT arg_HEADER OR NOT arg_TYPE OR NOT arg_NAMESPACE
       OR NOT arg_FILES)
      message(FATAL_ERROR "metactrl_embed(${target}): needs FUNCTION, HEADER, TYPE, NAMESPACE and FILES")
    endif()
    set(output "${PROJECT_BINARY_DIR}/generated/${arg_FUNCTION}.cc")
    # A semicolon inside one argument does not survive every generator; no file name has a '|'.
    list(JOIN arg_FILES "|" files)
    add_custom_command(OUTPUT "${output}"
      COMMAND "${CMAKE_COMMAND}" -D "OUTPUT=${output}" -D "FUNCTION=${arg_FUNCTION}" -D "HEADER=${arg_HEADER}"
        -D "TYPE=${arg_TYPE}" -D "NAMESPACE=${arg_NAMESPACE}" -D "BASE=${arg_BASE}" -D "FILES=${files}" -P "${METACTRL_EMBED_SCRIPT}"
      DEPENDS ${arg_FILES} "${METACTRL_EMBED_SCRIPT}"
      COMMENT "Embedding files: ${arg_FUNCTION}"
      VERBATIM)
    target_sources(${target} PRIVATE "${output}")
  endfunction()
  return()
endif()

string(REPLACE "|" ";" FILES "${FILES}")
set(source "// Made by cmake/embed.cmake.\n#include \"${HEADER}\"\n\nnamespace ${NAMESPACE} {\n\n")
# The literal knows its length; counted while it is compiled, a long text is too much for the compiler.
string(APPEND source "std::span<const ${TYPE}> ${FUNCTION}() {\n  using namespace std::string_view_literals;\n  static constexpr ${TYPE} kFiles[] = {\n")
foreach(file IN LISTS FILES)
  file(READ "${file}" text)
  if(text MATCHES "\\)metactrl\"")
    message(FATAL_ERROR "${file} contains )metactrl\" and cannot be embedded")
  endif()
  if(BASE)
    file(RELATIVE_PATH name "${BASE}" "${file}")
  else()
    get_filename_component(name "${file}" NAME_WLE)
  endif()
  string(APPEND source "      {\"${name}\", R\"metactrl(${text})metactrl\"sv},\n")
endforeach()
string(APPEND source "  };\n  return kFiles;\n}\n\n}  // namespace ${NAMESPACE}\n")
file(WRITE "${OUTPUT}" "${source}")
