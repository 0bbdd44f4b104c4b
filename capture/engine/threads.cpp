// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/engine/threads.h"

#include <ATen/Parallel.h>
#include <ATen/Version.h>

#include <algorithm>
#include <dlfcn.h>
#include <thread>

namespace moire::capture {

namespace {

/// A function of the BLAS that happens to be loaded; none of its headers need be installed.
template <class Function>
Function* loadedFunction(const char* name)
{
    return reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
}

} // namespace

unsigned defaultThreads()
{
    return std::max(1U, std::thread::hardware_concurrency());
}

void setLibraryThreads(unsigned threads)
{
    const int count = static_cast<int>(threads == 0 ? defaultThreads() : threads);
    auto* setThreads = loadedFunction<void(int)>("openblas_set_num_threads");
    auto* parallelKind = loadedFunction<int()>("openblas_get_parallel");
    constexpr int ownThreads = 1; // of openblas_get_parallel: neither sequential nor OpenMP
    if (setThreads == nullptr) {
        at::set_num_threads(count);
        return;
    }
    // Threads of OpenMP spin for a while after every operation and would take the processors from
    // OpenBLAS's own threads (measured: ten times the time on two cores). The products need them
    // more.
    const bool twoPools = parallelKind != nullptr && parallelKind() == ownThreads;
    at::set_num_threads(twoPools ? 1 : count);
    setThreads(count);
}

BlasName blasName()
{
    if (auto* config = loadedFunction<char*()>("openblas_get_config"))
        return {"OpenBLAS", config()};
    const std::string mkl = at::get_mkl_version();
    if (mkl.find("not found") == std::string::npos)
        return {"MKL", mkl};
    return {"BLAS", {}};
}

} // namespace moire::capture
