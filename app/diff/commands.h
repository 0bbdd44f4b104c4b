// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

/// The commands of moire-diff. Each takes its own arguments (argv[0] is the command's name), prints
/// and returns the exit status.
namespace moire::app {

int compareCommand(int argc, const char* const* argv);
int infoCommand(int argc, const char* const* argv);
int showCommand(int argc, const char* const* argv);
int verifyCommand(int argc, const char* const* argv);
int exportCommand(int argc, const char* const* argv);
int matrixCommand(int argc, const char* const* argv);
int studyCommand(int argc, const char* const* argv);

} // namespace moire::app
