// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/model/byte_reader.h"
#include "capture/model/gguf_file.h"

#include <type_traits>

namespace moire::capture {

namespace {

/// Calls `use` with the next number of the given kind; false for kinds that are no number and when
/// the bytes do not suffice.
template <class Use>
bool withNumber(ByteReader& reader, GgufKind kind, Use use)
{
    const auto next = [&](auto value) {
        if (!reader.read(value))
            return false;
        use(value);
        return true;
    };
    switch (kind) {
    case GgufKind::U8:
        return next(std::uint8_t{});
    case GgufKind::I8:
        return next(std::int8_t{});
    case GgufKind::U16:
        return next(std::uint16_t{});
    case GgufKind::I16:
        return next(std::int16_t{});
    case GgufKind::U32:
        return next(std::uint32_t{});
    case GgufKind::I32:
        return next(std::int32_t{});
    case GgufKind::U64:
        return next(std::uint64_t{});
    case GgufKind::I64:
        return next(std::int64_t{});
    case GgufKind::F32:
        return next(float{});
    case GgufKind::F64:
        return next(double{});
    default:
        return false;
    }
}

bool isInteger(GgufKind kind)
{
    return kind <= GgufKind::I32 || kind == GgufKind::U64 || kind == GgufKind::I64;
}

} // namespace

std::optional<std::uint64_t> unsignedOf(const GgufValue& value)
{
    if (!isInteger(value.kind))
        return std::nullopt;
    std::optional<std::uint64_t> result;
    ByteReader reader(value.bytes);
    withNumber(reader, value.kind, [&](auto number) {
        if constexpr (std::is_signed_v<decltype(number)>) {
            if (number < 0)
                return;
        }
        result = static_cast<std::uint64_t>(number);
    });
    return result;
}

std::optional<double> numberOf(const GgufValue& value)
{
    std::optional<double> result;
    ByteReader reader(value.bytes);
    withNumber(reader, value.kind, [&](auto number) { result = static_cast<double>(number); });
    return result;
}

std::optional<bool> flagOf(const GgufValue& value)
{
    if (value.kind != GgufKind::Bool || value.bytes.empty())
        return std::nullopt;
    return value.bytes.front() != std::byte{0};
}

std::optional<std::string_view> textOf(const GgufValue& value)
{
    if (value.kind != GgufKind::String)
        return std::nullopt;
    return std::string_view(reinterpret_cast<const char*>(value.bytes.data()), value.bytes.size());
}

std::optional<std::vector<std::string_view>> textsOf(const GgufValue& value)
{
    if (value.kind != GgufKind::Array || value.elementKind != GgufKind::String)
        return std::nullopt;
    std::vector<std::string_view> texts(value.count);
    ByteReader reader(value.bytes);
    for (std::string_view& text : texts)
        if (!reader.text(text, reader.size()))
            return std::nullopt;
    return texts;
}

std::optional<std::vector<float>> floatsOf(const GgufValue& value)
{
    if (value.kind != GgufKind::Array || value.elementKind != GgufKind::F32)
        return std::nullopt;
    std::vector<float> numbers(value.count);
    ByteReader reader(value.bytes);
    for (float& number : numbers)
        if (!reader.read(number))
            return std::nullopt;
    return numbers;
}

std::optional<std::vector<std::int64_t>> integersOf(const GgufValue& value)
{
    if (value.kind != GgufKind::Array || !isInteger(value.elementKind))
        return std::nullopt;
    std::vector<std::int64_t> numbers;
    numbers.reserve(value.count);
    ByteReader reader(value.bytes);
    for (std::uint64_t i = 0; i < value.count; ++i)
        if (!withNumber(reader, value.elementKind,
                        [&](auto number) { numbers.push_back(static_cast<std::int64_t>(number)); }))
            return std::nullopt;
    return numbers;
}

} // namespace moire::capture
