// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/model/gguf_file.h"

#include "capture/model/byte_reader.h"
#include "capture/model/ggml_types.h"
#include "core/base/checked.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace moire::capture {

namespace {

constexpr std::string_view magic = "GGUF";
constexpr std::uint32_t oldestVersion = 2;
constexpr std::uint32_t newestVersion = 3;
constexpr std::uint64_t usualAlignment = 32;
constexpr std::uint64_t largestAlignment = 1U << 20;
constexpr std::uint32_t maxRank = 4;
constexpr int maxArrayDepth = 4;
constexpr std::size_t longestName = 1U << 16;

// The least that an entry takes in the file: empty key, kind, one byte of value; empty name, rank,
// one extent, type, offset. They bound the counts before memory is taken.
constexpr std::uint64_t leastValueBytes = 8 + 4 + 1;
constexpr std::uint64_t leastTensorBytes = 8 + 4 + 8 + 4 + 8;

/// Bytes of a value of fixed size; 0 for the others.
std::uint64_t bytesOfKind(GgufKind kind)
{
    switch (kind) {
    case GgufKind::U8:
    case GgufKind::I8:
    case GgufKind::Bool:
        return 1;
    case GgufKind::U16:
    case GgufKind::I16:
        return 2;
    case GgufKind::U32:
    case GgufKind::I32:
    case GgufKind::F32:
        return 4;
    case GgufKind::U64:
    case GgufKind::I64:
    case GgufKind::F64:
        return 8;
    default:
        return 0;
    }
}

/// Reads header, metadata and tensor list in their order. A false return leaves an error behind.
class GgufParser
{
public:
    GgufParser(std::span<const std::byte> bytes, std::string place)
        : m_reader(bytes)
        , m_place(std::move(place))
    {}

    std::vector<GgufValue> metadata;
    std::vector<GgufTensor> tensors;
    Error error;

    bool header()
    {
        if (!m_reader.startsWith(magic))
            return refuse(Errc::Unsupported, "is neither a model folder nor a GGUF file",
                          "Name a Hugging Face model folder or a .gguf file");
        m_reader.skip(magic.size());
        std::uint32_t version = 0;
        if (!m_reader.read(version))
            return truncated();
        if (version >= oldestVersion << 24U)
            return refuse(Errc::Unsupported, "is a GGUF file in big-endian byte order",
                          "Convert it to little-endian");
        if (version < oldestVersion || version > newestVersion)
            return refuse(Errc::Unsupported,
                          "is a GGUF file of version " + std::to_string(version)
                              + "; versions 2 and 3 can be read",
                          "Convert the model with a current llama.cpp");
        return m_reader.read(m_tensorCount) && m_reader.read(m_valueCount) ? true : truncated();
    }

    bool values()
    {
        if (m_valueCount > m_reader.left() / leastValueBytes)
            return refuse(Errc::Damaged, "claims to hold " + std::to_string(m_valueCount)
                                             + " metadata entries, more than fit in the file");
        metadata.reserve(m_valueCount);
        for (std::uint64_t i = 0; i < m_valueCount; ++i)
            if (!value())
                return false;
        std::sort(metadata.begin(), metadata.end(),
                  [](const GgufValue& a, const GgufValue& b) { return a.key < b.key; });
        const auto twice = std::adjacent_find(
            metadata.begin(), metadata.end(),
            [](const GgufValue& a, const GgufValue& b) { return a.key == b.key; });
        if (twice != metadata.end())
            return refuse(Errc::Damaged, "has the key " + std::string(twice->key) + " twice");
        return true;
    }

    bool tensorList()
    {
        if (m_tensorCount > m_reader.left() / leastTensorBytes)
            return refuse(Errc::Damaged, "claims to hold " + std::to_string(m_tensorCount)
                                             + " tensors, more than fit in the file");
        tensors.reserve(m_tensorCount);
        for (std::uint64_t i = 0; i < m_tensorCount; ++i)
            if (!tensor())
                return false;
        return placeTensors();
    }

private:
    bool refuse(Errc code, std::string sentence, std::string hint = "Fetch the file again")
    {
        error = {code, std::move(sentence), m_place, std::move(hint)};
        return false;
    }
    bool truncated()
    {
        return refuse(Errc::Damaged, "ends at byte " + std::to_string(m_reader.size())
                                         + " in the middle of its header");
    }

    bool kind(GgufKind& kind)
    {
        std::uint32_t number = 0;
        if (!m_reader.read(number))
            return truncated();
        if (number > static_cast<std::uint32_t>(GgufKind::F64))
            return refuse(Errc::Damaged, "has metadata of the unknown kind "
                                             + std::to_string(number) + " before byte "
                                             + std::to_string(m_reader.position()));
        kind = static_cast<GgufKind>(number);
        return true;
    }

    bool value()
    {
        GgufValue read;
        if (!m_reader.text(read.key, longestName))
            return truncated();
        if (!kind(read.kind))
            return false;
        if (read.kind == GgufKind::String) {
            std::string_view text;
            if (!m_reader.text(text, m_reader.size()))
                return truncated();
            read.bytes = std::as_bytes(std::span(text));
        } else if (read.kind == GgufKind::Array) {
            if (!kind(read.elementKind))
                return false;
            if (!m_reader.read(read.count))
                return truncated();
            const std::uint64_t begin = m_reader.position();
            if (!skipElements(read.elementKind, read.count, maxArrayDepth))
                return false;
            read.bytes = m_reader.since(begin);
        } else {
            const std::uint64_t begin = m_reader.position();
            if (!m_reader.skip(bytesOfKind(read.kind)))
                return truncated();
            read.bytes = m_reader.since(begin);
        }
        metadata.push_back(read);
        return true;
    }

    bool skipElements(GgufKind elementKind, std::uint64_t count, int depth)
    {
        if (const std::uint64_t size = bytesOfKind(elementKind); size != 0) {
            const auto total = base::checkedMultiply(count, size);
            return total && m_reader.skip(*total) ? true : truncated();
        }
        if (depth == 0)
            return refuse(Errc::Damaged, "has metadata arrays nested too deeply");
        for (std::uint64_t i = 0; i < count; ++i) {
            if (elementKind == GgufKind::String) {
                std::string_view text;
                if (!m_reader.text(text, m_reader.size()))
                    return truncated();
                continue;
            }
            GgufKind inner = GgufKind::U8;
            std::uint64_t innerCount = 0;
            if (!kind(inner))
                return false;
            if (!m_reader.read(innerCount))
                return truncated();
            if (!skipElements(inner, innerCount, depth - 1))
                return false;
        }
        return true;
    }

    bool tensor()
    {
        GgufTensor read;
        if (!m_reader.text(read.name, longestName) || !m_reader.read(read.rank))
            return truncated();
        if (read.rank == 0 || read.rank > maxRank)
            return refuse(Errc::Damaged, "tensor " + std::string(read.name) + " has "
                                             + std::to_string(read.rank)
                                             + " extents; the format allows 1 to 4");
        for (std::uint32_t i = 0; i < read.rank; ++i)
            if (!m_reader.read(read.extents[i]))
                return truncated();
        if (!m_reader.read(read.type) || !m_reader.read(read.offset))
            return truncated();
        if (!isGgmlType(read.type))
            return refuse(Errc::Unsupported,
                          "tensor " + std::string(read.name) + " is of the unknown type "
                              + ggmlTypeName(read.type),
                          "Types that can be read: " + supportedGgmlTypes());
        tensors.push_back(read);
        return sizeTensor(tensors.back());
    }

    bool sizeTensor(GgufTensor& tensor)
    {
        std::optional<std::uint64_t> values = 1;
        for (std::uint32_t i = 0; i < tensor.rank; ++i)
            if (values)
                values = base::checkedMultiply(*values, tensor.extents[i]);
        // Extents go into signed numbers later.
        if (!values || *values > std::uint64_t{1} << 62U)
            return refuse(Errc::Damaged,
                          "tensor " + std::string(tensor.name) + " has absurdly many values");
        const GgmlType* type = findGgmlType(tensor.type);
        if (type == nullptr)
            return true;
        if (tensor.extents[0] % type->blockValues != 0)
            return refuse(Errc::Damaged, "tensor " + std::string(tensor.name)
                                             + " has rows that are no whole blocks of its type "
                                             + ggmlTypeName(tensor.type));
        const auto size = base::checkedMultiply(*values / type->blockValues, type->blockBytes);
        if (!size)
            return refuse(Errc::Damaged,
                          "tensor " + std::string(tensor.name) + " has absurdly many values");
        tensor.size = *size;
        return true;
    }

    /// general.alignment, or the format's own. 0 when it makes no sense.
    std::uint64_t alignment() const
    {
        const auto it = std::lower_bound(
            metadata.begin(), metadata.end(), std::string_view("general.alignment"),
            [](const GgufValue& value, std::string_view key) { return value.key < key; });
        if (it == metadata.end() || it->key != "general.alignment")
            return usualAlignment;
        const auto named = unsignedOf(*it);
        return named && std::has_single_bit(*named) && *named <= largestAlignment ? *named : 0;
    }

    /// Turns offsets within the data into offsets in the file, and checks the ranges.
    bool placeTensors()
    {
        const std::uint64_t step = alignment();
        if (step == 0)
            return refuse(Errc::Damaged, "has a general.alignment that is no power of two");
        const std::uint64_t begin = (m_reader.position() + step - 1) / step * step;
        std::sort(tensors.begin(), tensors.end(), [](const GgufTensor& a, const GgufTensor& b) {
            return std::pair(a.offset, a.size) < std::pair(b.offset, b.size);
        });
        std::uint64_t end = 0;
        for (GgufTensor& tensor : tensors) {
            const std::string name(tensor.name);
            if (tensor.offset % step != 0)
                return refuse(Errc::Damaged, "tensor " + name + " does not begin at a multiple of "
                                                 + std::to_string(step) + " bytes");
            if (tensor.offset < end)
                return refuse(Errc::Damaged, "tensor " + name + " overlaps the one before it");
            if (begin > m_reader.size()
                || !base::rangeFits(tensor.offset, tensor.size, m_reader.size() - begin))
                return refuse(Errc::Damaged, "ends at byte " + std::to_string(m_reader.size())
                                                 + ", before tensor " + name + " does");
            end = tensor.offset + tensor.size;
            tensor.offset += begin;
        }
        std::sort(tensors.begin(), tensors.end(),
                  [](const GgufTensor& a, const GgufTensor& b) { return a.name < b.name; });
        const auto twice = std::adjacent_find(
            tensors.begin(), tensors.end(),
            [](const GgufTensor& a, const GgufTensor& b) { return a.name == b.name; });
        if (twice != tensors.end())
            return refuse(Errc::Damaged, "has the tensor " + std::string(twice->name) + " twice");
        return true;
    }

    ByteReader m_reader;
    std::string m_place;
    std::uint64_t m_tensorCount = 0;
    std::uint64_t m_valueCount = 0;
};

} // namespace

Result<GgufFile> GgufFile::open(const std::filesystem::path& path)
{
    auto mapped = base::MappedFile::open(path);
    if (!mapped)
        return mapped.error();
    GgufFile file;
    file.m_mapped = std::make_shared<const base::MappedFile>(std::move(*mapped));
    if (auto parsed = file.parse(); !parsed)
        return parsed.error();
    return file;
}

Result<void> GgufFile::parse()
{
    GgufParser parser(m_mapped->bytes(), place());
    if (!parser.header() || !parser.values() || !parser.tensorList())
        return parser.error;
    m_metadata = std::move(parser.metadata);
    m_tensors = std::move(parser.tensors);
    const GgufValue* parts = find("split.count");
    if (parts != nullptr && unsignedOf(*parts).value_or(0) > 1)
        return Error{Errc::Unsupported, "is one part of a model split over several files", place(),
                     "Join the parts with llama.cpp's gguf-split --merge"};
    return {};
}

const GgufValue* GgufFile::find(std::string_view key) const
{
    const auto it = std::lower_bound(
        m_metadata.begin(), m_metadata.end(), key,
        [](const GgufValue& value, std::string_view wanted) { return value.key < wanted; });
    return it == m_metadata.end() || it->key != key ? nullptr : &*it;
}

const GgufTensor* GgufFile::findTensor(std::string_view name) const
{
    const auto it = std::lower_bound(
        m_tensors.begin(), m_tensors.end(), name,
        [](const GgufTensor& tensor, std::string_view wanted) { return tensor.name < wanted; });
    return it == m_tensors.end() || it->name != name ? nullptr : &*it;
}

} // namespace moire::capture
