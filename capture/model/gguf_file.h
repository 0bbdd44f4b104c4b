// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/base/file.h"
#include "core/base/result.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace moire::capture {

/// Types of metadata values; the numbers are the format's.
enum class GgufKind : std::uint32_t
{
    U8 = 0,
    I8 = 1,
    U16 = 2,
    I16 = 3,
    U32 = 4,
    I32 = 5,
    F32 = 6,
    Bool = 7,
    String = 8,
    Array = 9,
    U64 = 10,
    I64 = 11,
    F64 = 12,
};

/// A metadata value as it lies in the mapped file: nothing is decoded before it is asked for.
struct GgufValue
{
    std::string_view key;
    GgufKind kind = GgufKind::U8;
    GgufKind elementKind = GgufKind::U8; ///< of an array
    std::uint64_t count = 1;             ///< elements of an array
    std::span<const std::byte> bytes;    ///< a string's characters; an array's elements, encoded
};

/// One tensor. Extents as in the file: the first runs fastest.
struct GgufTensor
{
    std::string_view name;
    std::uint32_t type = 0; ///< of ggml, see ggml_types.h
    std::uint32_t rank = 0;
    std::array<std::uint64_t, 4> extents{};
    std::uint64_t offset = 0; ///< in the file
    std::uint64_t size = 0;   ///< bytes; 0 for a type that we cannot read
};

/// A .gguf file, version 2 or 3, little-endian: header, metadata and list of tensors, all checked
/// against the file's size before memory is taken (never more than the file's size, four times).
class GgufFile
{
public:
    /// Errors: NotFound, Io, Damaged, Unsupported (version, byte order, split over several files).
    static Result<GgufFile> open(const std::filesystem::path& path);

    const std::shared_ptr<const base::MappedFile>& mapped() const { return m_mapped; }
    std::string place() const { return m_mapped->path().string(); }
    /// Sorted by key.
    const std::vector<GgufValue>& metadata() const { return m_metadata; }
    const GgufValue* find(std::string_view key) const;
    /// Sorted by name.
    const std::vector<GgufTensor>& tensors() const { return m_tensors; }
    const GgufTensor* findTensor(std::string_view name) const;

private:
    Result<void> parse();

    std::shared_ptr<const base::MappedFile> m_mapped;
    std::vector<GgufValue> m_metadata;
    std::vector<GgufTensor> m_tensors;
};

/// An integer of any width, if that is what it is and it is not negative.
std::optional<std::uint64_t> unsignedOf(const GgufValue& value);
/// A number of any kind.
std::optional<double> numberOf(const GgufValue& value);
std::optional<bool> flagOf(const GgufValue& value);
std::optional<std::string_view> textOf(const GgufValue& value);
/// The strings of an array of strings; views into the file.
std::optional<std::vector<std::string_view>> textsOf(const GgufValue& value);
/// The numbers of an array of fp32.
std::optional<std::vector<float>> floatsOf(const GgufValue& value);
/// The numbers of an array of integers.
std::optional<std::vector<std::int64_t>> integersOf(const GgufValue& value);

} // namespace moire::capture
