// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "app/diff/exit_status.h"

#include "app/terminal/terminal.h"

namespace moire::app {

namespace {

constexpr std::string_view program = "moire-diff";

} // namespace

int tell(const Error& error)
{
    const int trouble = tell(program, error);
    return error.code == Errc::Incomparable ? exitIncomparable : trouble;
}

int print(std::string_view text)
{
    return print(program, text);
}

} // namespace moire::app
