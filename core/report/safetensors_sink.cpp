// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/report/array_sink.h"
#include "core/report/json_value.h"
#include "core/report/output_file.h"

#include <algorithm>
#include <optional>
#include <span>

namespace moire::report {

namespace {

namespace fs = std::filesystem;

std::string_view safetensorsType(numeric::DType dtype, bool raw)
{
    using numeric::DType;
    switch (dtype) {
    case DType::BF16:
        return raw ? "U16" : "BF16";
    case DType::FP16:
        return raw ? "U16" : "F16";
    case DType::E4M3FN:
        return raw ? "U8" : "F8_E4M3";
    case DType::E5M2:
        return raw ? "U8" : "F8_E5M2";
    case DType::E4M3FNUZ:
    case DType::E5M2FNUZ:
    case DType::U8:
        return "U8";
    case DType::FP32:
        return "F32";
    case DType::FP64:
        return "F64";
    case DType::I8:
        return "I8";
    case DType::I16:
        return "I16";
    case DType::I32:
        return "I32";
    case DType::I64:
        return "I64";
    case DType::Bool:
        return "BOOL";
    }
    return "U8";
}

std::uint64_t bytesOf(const ArrayInfo& array)
{
    return array.rows * std::max<std::uint32_t>(1, array.width) * numeric::sizeOf(array.dtype);
}

/// The format's header: its length in 8 bytes, little-endian, then JSON padded with blanks to a
/// multiple of 8.
std::string headerOf(const std::vector<ArrayInfo>& arrays, bool raw)
{
    Json header;
    header["__metadata__"] = {{"format", "moire-diff export"}};
    std::uint64_t offset = 0;
    for (const ArrayInfo& array : arrays) {
        Json shape = Json::array({array.rows});
        if (array.width > 0)
            shape.push_back(array.width);
        const std::uint64_t end = offset + bytesOf(array);
        header[array.file] = {{"dtype", safetensorsType(array.dtype, raw)},
                              {"shape", shape},
                              {"data_offsets", {offset, end}}};
        offset = end;
    }
    std::string text = header.dump();
    constexpr std::size_t alignment = 8;
    text.resize((text.size() + alignment - 1) / alignment * alignment, ' ');
    std::string length;
    for (std::size_t i = 0; i < sizeof(std::uint64_t); ++i)
        length += static_cast<char>((text.size() >> (8 * i)) & 0xffU);
    return length + text;
}

class SafetensorsSink : public ArraySink
{
public:
    SafetensorsSink(fs::path folder, bool raw, const std::vector<ArrayInfo>& arrays)
        : m_path(std::move(folder) / "capture.safetensors")
        , m_header(headerOf(arrays, raw))
    {}

    Result<void> begin(const ArrayInfo& info) override
    {
        m_rowBytes = std::max<std::size_t>(1, info.width) * numeric::sizeOf(info.dtype);
        return m_file ? Result<void>() : open();
    }
    Result<void> row(const std::byte* data) override
    {
        return m_file->write(std::span(data, m_rowBytes));
    }
    Result<void> end() override { return {}; }
    Result<void> finish() override
    {
        if (!m_file)
            if (auto opened = open(); !opened)
                return opened;
        m_written.push_back(m_path);
        return m_file->commit();
    }

private:
    Result<void> open()
    {
        auto file = OutputFile::create(m_path, OutputFile::Stale::Leave);
        if (!file)
            return file.error();
        m_file = std::move(*file);
        return m_file->write(m_header);
    }

    fs::path m_path;
    std::string m_header;
    std::optional<OutputFile> m_file;
    std::size_t m_rowBytes = 0;
};

} // namespace

std::unique_ptr<ArraySink> safetensorsSink(fs::path folder, bool raw,
                                           const std::vector<ArrayInfo>& arrays)
{
    return std::make_unique<SafetensorsSink>(std::move(folder), raw, arrays);
}

} // namespace moire::report
