// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cassert>
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace moire::base {

/// What kind of trouble it is; programs map it to their exit status.
enum class Errc
{
    NotFound,     ///< a file, folder, tap, sample or tensor that is not there
    Io,           ///< the system refused to read or write
    Damaged,      ///< the bytes contradict their own format
    Unsupported,  ///< sound, but nothing that this version can handle
    Invalid,      ///< an option or value that makes no sense
    Incomparable, ///< two runs without a common row or tap
    Cancelled,    ///< the user's wish
    NoSpace,      ///< the disk is full
    Internal,     ///< a fault of ours or of a library
};

/// A failure as the user reads it: one sentence, the place, and what to do next.
struct Error
{
    Errc code = Errc::Internal;
    std::string sentence; ///< without a full stop at the end and without the place
    std::string place;    ///< file, dataset, byte offset, tensor; may be empty
    std::string hint;     ///< what to do next; may be empty

    /// "place: sentence. hint." on one line.
    std::string text() const;
};

/// A value, or the Error that prevented it. Reading the wrong one is a bug of ours (assert).
template <class T>
class [[nodiscard]] Result
{
public:
    Result(T value)
        : m_content(std::in_place_index<0>, std::move(value))
    {}
    Result(Error error)
        : m_content(std::in_place_index<1>, std::move(error))
    {}

    explicit operator bool() const { return m_content.index() == 0; }
    T& operator*() & { return valueOf(*this); }
    const T& operator*() const& { return valueOf(*this); }
    T&& operator*() && { return std::move(valueOf(*this)); }
    T* operator->() { return &valueOf(*this); }
    const T* operator->() const { return &valueOf(*this); }
    const Error& error() const
    {
        assert(m_content.index() == 1);
        return *std::get_if<1>(&m_content);
    }

private:
    template <class Self>
    static auto& valueOf(Self& self)
    {
        assert(self.m_content.index() == 0);
        return *std::get_if<0>(&self.m_content);
    }
    std::variant<T, Error> m_content;
};

/// Success without a value, or an Error.
template <>
class [[nodiscard]] Result<void>
{
public:
    Result() = default;
    Result(Error error)
        : m_error(std::move(error))
    {}
    explicit operator bool() const { return !m_error; }
    const Error& error() const
    {
        assert(m_error);
        return *m_error;
    }

private:
    std::optional<Error> m_error;
};

} // namespace moire::base

namespace moire {
using base::Errc;
using base::Error;
using base::Result;
} // namespace moire
