# SPDX-FileCopyrightText: 2026 Moire contributors
# SPDX-License-Identifier: Apache-2.0
#
# The three kinds of target that the tree has: a room (one folder, one static library), a program, a test.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()

# Warnings, and one rule of arithmetic: the compiler never fuses a multiply and an add by itself, so
# that every build and every instruction set gives the same bits.
add_library(moire_flags INTERFACE)
target_compile_options(moire_flags INTERFACE -Wall -Wextra -Wpedantic -Wconversion -Wshadow -ffp-contract=off)

# moire_room(NAME store LINKS moire::trace PRIVATE_LINKS hdf5 HEADERS a.h SOURCES a.cpp)
# Makes the static library moire_<name> (alias moire::<name>) of the current folder. Includes are
# written from the root of the tree. Every header is also compiled alone (target all_verify_interface_header_sets).
function(moire_room)
    cmake_parse_arguments(ARG "" "NAME" "LINKS;PRIVATE_LINKS;HEADERS;SOURCES" ${ARGN})
    string(REPLACE "-" "_" suffix ${ARG_NAME})
    set(target moire_${suffix})
    if(ARG_SOURCES)
        add_library(${target} STATIC ${ARG_SOURCES})
        target_include_directories(${target} PUBLIC ${PROJECT_SOURCE_DIR})
        target_link_libraries(${target} PUBLIC ${ARG_LINKS} PRIVATE moire_flags ${ARG_PRIVATE_LINKS})
        target_sources(${target} PUBLIC FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR} FILES ${ARG_HEADERS})
    else()
        add_library(${target} INTERFACE)
        target_include_directories(${target} INTERFACE ${PROJECT_SOURCE_DIR})
        target_link_libraries(${target} INTERFACE ${ARG_LINKS})
        target_sources(${target} INTERFACE FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR} FILES ${ARG_HEADERS})
    endif()
    set_target_properties(${target} PROPERTIES VERIFY_INTERFACE_HEADER_SETS ${MOIRE_DEVELOPER_MODE})
    add_library(moire::${ARG_NAME} ALIAS ${target})
endfunction()

# moire_test(NAME store_writer SOURCES writer_test.cpp LINKS moire::store LABELS unit [TIMEOUT 120] [GUI])
# One Qt Test executable, which includes its own .moc file.
function(moire_test)
    cmake_parse_arguments(ARG "GUI" "NAME;TIMEOUT" "SOURCES;LINKS;LABELS" ${ARGN})
    add_executable(${ARG_NAME}_test ${ARG_SOURCES})
    set_target_properties(${ARG_NAME}_test PROPERTIES AUTOMOC ON)
    target_link_libraries(${ARG_NAME}_test PRIVATE moire_flags ${ARG_LINKS} Qt6::Test)
    add_test(NAME ${ARG_NAME} COMMAND ${ARG_NAME}_test)
    moire_test_properties(${ARG_NAME} "${ARG_LABELS}" "${ARG_TIMEOUT}")
endfunction()

# The environment that every test of ours runs in.
function(moire_test_properties name labels timeout)
    if(NOT timeout)
        set(timeout 120)
    endif()
    if(CMAKE_BUILD_TYPE STREQUAL "Debug" AND CMAKE_CXX_FLAGS_DEBUG MATCHES "fsanitize=thread")
        math(EXPR timeout "5 * ${timeout}") # what the sanitizer costs
    endif()
    set_tests_properties(${name} PROPERTIES LABELS "${labels}" TIMEOUT ${timeout}
        ENVIRONMENT "QT_QPA_PLATFORM=offscreen;LC_ALL=C.UTF-8;TZ=UTC;MOIRE_BIN=${CMAKE_BINARY_DIR}/bin;MOIRE_TEST_BIN=${CMAKE_BINARY_DIR}/tests/bin;MOIRE_SOURCE=${PROJECT_SOURCE_DIR};MOIRE_FULL=$<BOOL:${MOIRE_FULL_TESTS}>")
endfunction()
