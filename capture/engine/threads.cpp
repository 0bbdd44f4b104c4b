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

/// Of an OpenBLAS with threads of its own, nothing of another library.
struct OwnThreads
{
    void (*set)(int) = nullptr;
    int (*get)() = nullptr;
};

const OwnThreads& ownThreads()
{
    static const OwnThreads found = []() -> OwnThreads {
        auto* parallelKind = loadedFunction<int()>("openblas_get_parallel");
        constexpr int own = 1; // neither sequential nor OpenMP
        if (parallelKind == nullptr || parallelKind() != own)
            return {};
        return {loadedFunction<void(int)>("openblas_set_num_threads"),
                loadedFunction<int()>("openblas_get_num_threads")};
    }();
    return found;
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
    if (setThreads == nullptr) {
        at::set_num_threads(count);
        return;
    }
    // Threads of OpenMP spin for a while after every operation and would take the processors from
    // OpenBLAS's own threads (measured: ten times the time on two cores). The products need them
    // more.
    at::set_num_threads(ownThreads().set != nullptr ? 1 : count);
    setThreads(count);
}

ProductThreads::ProductThreads(std::int64_t multiplications)
{
    constexpr std::int64_t worthThreads = std::int64_t{1} << 19U; // some 25 µs of one core
    const OwnThreads& own = ownThreads();
    if (multiplications >= worthThreads || own.set == nullptr || own.get == nullptr)
        return;
    m_before = own.get();
    if (m_before > 1)
        own.set(1);
}

ProductThreads::~ProductThreads()
{
    if (m_before > 1)
        ownThreads().set(m_before);
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
