// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

namespace moire::capture {

/// Threads of LibTorch and of the BLAS below it, which keeps its own count; 0 = one for each
/// processor. Global to the process.
void setLibraryThreads(unsigned threads);

/// Number that 0 stands for.
unsigned defaultThreads();

/// The BLAS that LibTorch was found to use: its name, and what it says of its version and kernel.
struct BlasName
{
    std::string name;
    std::string version;
};
BlasName blasName();

} // namespace moire::capture
