# find_package(linemate): gates in a build of CMake.
#
#   linemate_audit(TARGET [FAIL_ON SEVERITY] [GUARDS FILE] [OPTIONS ...])
#     audits TARGET after each link; the build fails where audit fails.
#   linemate_check(TARGET [BASE REVISION] [LINKED] [FAIL_ON SEVERITY] [OPTIONS ...])
#     adds linemate-check-TARGET, which checks its sources, and linemate-check, which checks those of all targets.
#     LINKED builds TARGET first and takes its addresses instead of predicted ones.
#
# LINEMATE_EXECUTABLE is the command: of the installation that this file is a part of, else of the PATH.  What OPTIONS
# hold goes to the command as it is.  docs/gates.md explains both.
cmake_minimum_required(VERSION 3.19)

get_filename_component(_linemate_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
find_program(LINEMATE_EXECUTABLE linemate
  HINTS "${_linemate_prefix}/bin"
  PATHS "${CMAKE_CURRENT_LIST_DIR}/../../scripts" # of a checkout
  DOC "The linemate command")
if(NOT LINEMATE_EXECUTABLE)
  set(linemate_FOUND FALSE)
  set(linemate_NOT_FOUND_MESSAGE "no linemate command; set LINEMATE_EXECUTABLE")
  return()
endif()

function(linemate_audit target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "FAIL_ON;GUARDS" "OPTIONS")
  _linemate_no_more(linemate_audit "${arg_UNPARSED_ARGUMENTS}")
  set(options "")
  if(arg_FAIL_ON)
    list(APPEND options --fail-on "${arg_FAIL_ON}")
  endif()
  if(arg_GUARDS)
    get_filename_component(guards "${arg_GUARDS}" ABSOLUTE)
    list(APPEND options --guards "${guards}")
  endif()
  add_custom_command(TARGET "${target}" POST_BUILD
    COMMAND "${LINEMATE_EXECUTABLE}" audit --quiet ${options} ${arg_OPTIONS} "$<TARGET_FILE:${target}>"
    COMMENT "Auditing the cache lines of ${target}"
    VERBATIM)
endfunction()

function(linemate_check target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "LINKED" "BASE;FAIL_ON" "OPTIONS")
  _linemate_no_more(linemate_check "${arg_UNPARSED_ARGUMENTS}")
  # Of this target alone the database needs rows; where the project exports all, it has them already.
  set_target_properties("${target}" PROPERTIES EXPORT_COMPILE_COMMANDS ON)
  get_target_property(sources "${target}" SOURCES)
  get_target_property(folder "${target}" SOURCE_DIR)
  set(units "")
  foreach(source IN LISTS sources)
    if(source MATCHES "\\.(c|cc|cpp|cxx|c\\+\\+|C)$" AND NOT source MATCHES "^\\$<")
      get_filename_component(unit "${source}" ABSOLUTE BASE_DIR "${folder}")
      list(APPEND units "${unit}")
    endif()
  endforeach()
  set(options -p "${CMAKE_BINARY_DIR}")
  foreach(name IN ITEMS BASE FAIL_ON)
    if(arg_${name})
      string(TOLOWER "--${name}" option)
      string(REPLACE "_" "-" option "${option}")
      list(APPEND options "${option}" "${arg_${name}}")
    endif()
  endforeach()
  if(arg_LINKED)
    list(APPEND options --binary "$<TARGET_FILE:${target}>")
  endif()
  add_custom_target("linemate-check-${target}"
    COMMAND "${LINEMATE_EXECUTABLE}" check --quiet ${options} ${arg_OPTIONS} ${units}
    WORKING_DIRECTORY "${folder}"
    COMMENT "Checking the cache lines of ${target}"
    VERBATIM USES_TERMINAL)
  if(arg_LINKED)
    add_dependencies("linemate-check-${target}" "${target}")
  endif()
  if(NOT TARGET linemate-check)
    add_custom_target(linemate-check)
  endif()
  add_dependencies(linemate-check "linemate-check-${target}")
endfunction()

function(_linemate_no_more function unparsed)
  if(unparsed)
    message(FATAL_ERROR "${function}: not understood: ${unparsed}")
  endif()
endfunction()
