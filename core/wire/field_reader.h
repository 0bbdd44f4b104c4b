// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/wire/message.h"

#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace moire::wire {

/// Reads the fields of a header one after the other; the first that is missing or senseless is the
/// error of all.
class FieldReader
{
public:
    explicit FieldReader(const Fields& fields)
        : m_fields(fields)
    {}

    FieldReader& read(const char* name, std::string& to)
    {
        return take(textField(m_fields, name), to);
    }
    FieldReader& read(const char* name, std::vector<std::string>& to)
    {
        return take(textsField(m_fields, name), to);
    }
    FieldReader& read(const char* name, double& to)
    {
        return take(numberField(m_fields, name), to);
    }
    FieldReader& read(const char* name, bool& to) { return take(flagField(m_fields, name), to); }

    template <class Integer>
    requires std::integral<Integer> || std::is_enum_v<Integer> FieldReader& read(const char* name,
                                                                                 Integer& to)
    {
        const auto [least, most] = rangeOf<Integer>();
        return take(integerField(m_fields, name, least, most), to);
    }
    template <std::integral Integer>
    FieldReader& read(const char* name, std::vector<Integer>& to)
    {
        const auto [least, most] = rangeOf<Integer>();
        const auto numbers = integersField(m_fields, name, least, most);
        if (!numbers)
            return fail(numbers.error());
        to.clear();
        for (const std::int64_t number : *numbers)
            to.push_back(static_cast<Integer>(number));
        return *this;
    }

    /// Makes `error` the error, if there was none.
    FieldReader& fail(Error error)
    {
        if (!m_error)
            m_error = std::move(error);
        return *this;
    }
    bool sound() const { return !m_error; }
    const Error& error() const { return *m_error; }
    template <class Value>
    Result<Value> result(Value value) const
    {
        if (m_error)
            return *m_error;
        return value;
    }

private:
    /// What a field can hold: 64 bits with sign, or less where the type does.
    template <class Integer>
    static constexpr std::pair<std::int64_t, std::int64_t> rangeOf()
    {
        using Wide = std::int64_t;
        if constexpr (std::is_enum_v<Integer>)
            return rangeOf<std::underlying_type_t<Integer>>();
        else if constexpr (std::is_unsigned_v<Integer> && sizeof(Integer) == sizeof(Wide))
            return {0, std::numeric_limits<Wide>::max()};
        else
            return {static_cast<Wide>(std::numeric_limits<Integer>::min()),
                    static_cast<Wide>(std::numeric_limits<Integer>::max())};
    }

    template <class From, class To>
    FieldReader& take(Result<From> from, To& to)
    {
        if (!from)
            return fail(from.error());
        to = static_cast<To>(std::move(*from));
        return *this;
    }

    const Fields& m_fields;
    std::optional<Error> m_error;
};

} // namespace moire::wire
