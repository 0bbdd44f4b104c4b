// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/base/result.h"

#include <exception>
#include <new>

namespace moire::capture {

/// An Error on its way through code that LibTorch makes throw anyway. Caught by atEdge().
class Failure : public std::exception
{
public:
    explicit Failure(Error error)
        : m_error(std::move(error))
    {}
    const char* what() const noexcept override { return m_error.sentence.c_str(); }
    const Error& error() const { return m_error; }

private:
    Error m_error;
};

inline void throwIfFailed(const Result<void>& result)
{
    if (!result)
        throw Failure(result.error());
}

template <class T>
T valueOrThrow(Result<T> result)
{
    if (!result)
        throw Failure(result.error());
    return *std::move(result);
}

/// The first line of what a library says, which is the sentence; LibTorch adds a back trace.
Error libraryError(const std::exception& exception);

/// Runs `work`, which returns a Result, and turns what it throws into an Error.
template <class Work>
auto atEdge(Work&& work) -> decltype(work())
{
    try {
        return work();
    } catch (const Failure& failure) {
        return failure.error();
    } catch (const std::bad_alloc&) {
        return Error{Errc::Internal, "there is not enough memory", {}, "Take a smaller batch"};
    } catch (const std::exception& exception) {
        return libraryError(exception);
    }
}

} // namespace moire::capture
