// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>

namespace moire::capture {

/// Threads of LibTorch and of the BLAS below it, which keeps its own count; 0 = one for each
/// processor. Global to the process.
void setLibraryThreads(unsigned threads);

/// Number that 0 stands for.
unsigned defaultThreads();

/// While it lives, a BLAS with threads of its own makes products alone that have fewer
/// multiplications than are worth waking them: on a busy machine each waking may take milliseconds,
/// and a small model has hundreds of such products a token. Global to the process.
class ProductThreads
{
public:
    explicit ProductThreads(std::int64_t multiplications);
    ~ProductThreads();
    ProductThreads(const ProductThreads&) = delete;
    ProductThreads& operator=(const ProductThreads&) = delete;

private:
    int m_before = 1;
};

/// The BLAS that LibTorch was found to use: its name, and what it says of its version and kernel.
struct BlasName
{
    std::string name;
    std::string version;
};
BlasName blasName();

} // namespace moire::capture
