// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/model/safetensors_header.h"

#include "core/base/checked.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <set>
#include <string_view>
#include <utility>

namespace moire::capture {

namespace {

using nlohmann::json;

constexpr std::uint64_t lengthBytes = 8;
constexpr std::uint64_t maxHeaderBytes = 100'000'000; ///< the format's own limit
constexpr std::size_t maxRank = 16;

struct StoredType
{
    std::string_view name;
    unsigned bits;
    std::optional<numeric::DType> dtype;
};

using numeric::DType;
constexpr std::array storedTypes{
    StoredType{"BOOL", 8, DType::Bool},
    StoredType{"U8", 8, DType::U8},
    StoredType{"I8", 8, DType::I8},
    StoredType{"I16", 16, DType::I16},
    StoredType{"I32", 32, DType::I32},
    StoredType{"I64", 64, DType::I64},
    StoredType{"F16", 16, DType::FP16},
    StoredType{"BF16", 16, DType::BF16},
    StoredType{"F32", 32, DType::FP32},
    StoredType{"F64", 64, DType::FP64},
    StoredType{"F8_E4M3", 8, DType::E4M3FN},
    StoredType{"F8_E5M2", 8, DType::E5M2},
    StoredType{"F8_E4M3FNUZ", 8, DType::E4M3FNUZ},
    StoredType{"F8_E5M2FNUZ", 8, DType::E5M2FNUZ},
    StoredType{"F8_E8M0", 8, std::nullopt},
    StoredType{"F4", 4, std::nullopt},
    StoredType{"F6_E2M3", 6, std::nullopt},
    StoredType{"F6_E3M2", 6, std::nullopt},
    StoredType{"U16", 16, std::nullopt},
    StoredType{"U32", 32, std::nullopt},
    StoredType{"U64", 64, std::nullopt},
    StoredType{"C64", 64, std::nullopt},
};

/// Takes the parser's events and keeps the tensors only: no tree of values is built, so that a
/// hostile header cannot cost more memory than its own bytes a few times.
class HeaderReader : public json::json_sax_t
{
public:
    std::vector<StoredTensor> tensors;
    std::string trouble;

    bool null() override { return refuse("holds a null"); }
    bool boolean(bool) override { return refuse("holds a truth value"); }
    bool number_integer(number_integer_t) override { return refuse("holds a negative number"); }
    bool number_float(number_float_t, const string_t&) override
    {
        return refuse("holds a number that is no integer");
    }
    bool binary(binary_t&) override { return refuse("holds binary values"); }

    bool number_unsigned(number_unsigned_t value) override
    {
        if (m_level == Level::Shape) {
            if (value > std::uint64_t{std::numeric_limits<std::int64_t>::max()})
                return refuse("has an extent beyond 64 bits");
            if (tensors.back().shape.size() == maxRank)
                return refuse("has more than " + std::to_string(maxRank) + " extents");
            tensors.back().shape.push_back(static_cast<std::int64_t>(value));
            return true;
        }
        if (m_level != Level::Offsets || m_offsets == 2)
            return refuse("holds a number where none belongs");
        (m_offsets == 0 ? tensors.back().begin : tensors.back().end) = value;
        ++m_offsets;
        return true;
    }

    bool string(string_t& value) override
    {
        if (m_level == Level::Metadata)
            return true;
        if (m_level != Level::Tensor || m_field != "dtype")
            return refuse("holds a string where none belongs");
        tensors.back().dtypeName = value;
        return true;
    }

    bool start_object(std::size_t) override
    {
        if (m_level == Level::Outside) {
            m_level = Level::Root;
            return true;
        }
        if (m_level != Level::Root)
            return refuse("holds an object where none belongs");
        if (m_key == "__metadata__") {
            m_level = Level::Metadata;
            return true;
        }
        m_level = Level::Tensor;
        m_seen.clear();
        tensors.push_back({m_key, {}, {}, {}, 0, 0});
        return true;
    }

    bool key(string_t& value) override
    {
        if (m_level == Level::Root) {
            m_key = value;
            return true;
        }
        if (m_level == Level::Metadata)
            return true;
        if (value != "dtype" && value != "shape" && value != "data_offsets")
            return refuse("has the unknown key \"" + value + "\"");
        m_field = value;
        return m_seen.insert(value).second || refuse("has the key " + value + " twice");
    }

    bool end_object() override
    {
        if (m_level == Level::Tensor && m_seen.size() != 3)
            return refuse("lacks dtype, shape or data_offsets");
        m_level = m_level == Level::Root ? Level::Done : Level::Root;
        return true;
    }

    bool start_array(std::size_t) override
    {
        if (m_level != Level::Tensor || m_field == "dtype")
            return refuse("holds a list where none belongs");
        m_level = m_field == "shape" ? Level::Shape : Level::Offsets;
        m_offsets = 0;
        return true;
    }

    bool end_array() override
    {
        if (m_level == Level::Offsets && m_offsets != 2)
            return refuse("has not two data_offsets");
        m_level = Level::Tensor;
        return true;
    }

    bool parse_error(std::size_t position, const std::string&,
                     const nlohmann::detail::exception&) override
    {
        trouble = "has a header that is not JSON (at byte " + std::to_string(lengthBytes + position)
                  + ")";
        return false;
    }

private:
    enum class Level : std::uint8_t
    {
        Outside,
        Root,
        Metadata,
        Tensor,
        Shape,
        Offsets,
        Done
    };

    bool refuse(const std::string& what)
    {
        trouble = "has a header whose entry \"" + m_key + "\" " + what;
        return false;
    }

    Level m_level = Level::Outside;
    std::string m_key;
    std::string m_field;
    std::set<std::string> m_seen;
    int m_offsets = 0;
};

Error damaged(const std::string& sentence, const std::string& place)
{
    return {Errc::Damaged, sentence, place, "Fetch the file again"};
}

/// Gives the tensor its type, and holds shape × size against its range.
Result<void> checkSize(StoredTensor& tensor, const std::string& place)
{
    const auto type =
        std::find_if(storedTypes.begin(), storedTypes.end(), [&](const StoredType& candidate) {
            return candidate.name == tensor.dtypeName;
        });
    if (type == storedTypes.end())
        return Error{Errc::Unsupported,
                     "tensor " + tensor.name + " has the unknown dtype " + tensor.dtypeName, place,
                     "Take a checkpoint in BF16, F16 or F32"};
    tensor.dtype = type->dtype;

    std::optional<std::uint64_t> bits = type->bits;
    for (const std::int64_t extent : tensor.shape)
        if (bits)
            bits = base::checkedMultiply(*bits, static_cast<std::uint64_t>(extent));
    if (tensor.end < tensor.begin)
        return damaged("tensor " + tensor.name + " ends before it begins", place);
    if (!bits || *bits % 8 != 0 || *bits / 8 != tensor.end - tensor.begin)
        return damaged("tensor " + tensor.name + " spans "
                           + std::to_string(tensor.end - tensor.begin)
                           + " bytes, which is not what its shape and dtype take",
                       place);
    return {};
}

/// Sorts the tensors by their bytes and checks that they fill `dataBytes` without gap or overlap.
Result<void> checkLayout(std::vector<StoredTensor>& tensors, std::uint64_t dataBytes,
                         const std::string& place)
{
    std::sort(tensors.begin(), tensors.end(), [](const StoredTensor& a, const StoredTensor& b) {
        return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
    });
    std::uint64_t position = 0;
    for (const StoredTensor& tensor : tensors) {
        if (tensor.end > dataBytes)
            return damaged("tensor " + tensor.name + " reaches to byte "
                               + std::to_string(tensor.end) + " of the data, but there are only "
                               + std::to_string(dataBytes),
                           place);
        if (tensor.begin != position)
            return damaged("tensor " + tensor.name
                               + (tensor.begin < position ? " overlaps the one before it"
                                                          : " leaves a gap to the one before it"),
                           place);
        position = tensor.end;
    }
    if (position != dataBytes)
        return damaged(
            "has " + std::to_string(dataBytes - position) + " bytes behind its last tensor", place);
    return {};
}

Result<void> checkNames(const std::vector<StoredTensor>& tensors, const std::string& place)
{
    std::vector<std::string_view> names;
    names.reserve(tensors.size());
    for (const StoredTensor& tensor : tensors)
        names.push_back(tensor.name);
    std::sort(names.begin(), names.end());
    const auto twice = std::adjacent_find(names.begin(), names.end());
    if (twice != names.end())
        return damaged("has the tensor " + std::string(*twice) + " twice", place);
    return {};
}

} // namespace

Result<std::vector<StoredTensor>> readSafetensorsHeader(std::span<const std::byte> file,
                                                        const std::string& place)
{
    if (file.size() < lengthBytes)
        return damaged("is too short for a safetensors file", place);
    std::uint64_t length = 0;
    std::memcpy(&length, file.data(), lengthBytes);
    if (length > maxHeaderBytes)
        return damaged("says that its header takes " + std::to_string(length)
                           + " bytes; the format allows 100 MB",
                       place);
    if (!base::rangeFits(lengthBytes, length, file.size()))
        return damaged("says that its header takes " + std::to_string(length)
                           + " bytes, but the file has only " + std::to_string(file.size()),
                       place);
    const auto* text = reinterpret_cast<const char*>(file.data()) + lengthBytes;
    HeaderReader reader;
    if (length == 0 || *text != '{')
        return damaged("has a header that is not JSON (at byte 8)", place);
    if (!json::sax_parse(text, text + length, &reader))
        return damaged(reader.trouble, place);

    for (StoredTensor& tensor : reader.tensors)
        if (auto checked = checkSize(tensor, place); !checked)
            return checked.error();
    const std::uint64_t dataBegin = lengthBytes + length;
    if (auto checked = checkLayout(reader.tensors, file.size() - dataBegin, place); !checked)
        return checked.error();
    if (auto checked = checkNames(reader.tensors, place); !checked)
        return checked.error();
    for (StoredTensor& tensor : reader.tensors) {
        tensor.begin += dataBegin;
        tensor.end += dataBegin;
    }
    return std::move(reader.tensors);
}

} // namespace moire::capture
