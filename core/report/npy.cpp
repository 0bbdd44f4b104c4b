// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/report/npy.h"

#include <bit>
#include <cstring>

namespace moire::report {

// Rows go to the file as they lie in memory; NumPy is told that they are little-endian.
static_assert(std::endian::native == std::endian::little);

namespace {

/// NEP 1: magic, version 1.0, header length, header padded so that the data start at a multiple of
/// 64 bytes.
std::string headerOf(std::string_view descr, const std::vector<std::uint64_t>& shape)
{
    constexpr std::size_t alignment = 64;
    constexpr std::size_t beforeHeader = 10;
    std::string header =
        "{'descr': '" + std::string(descr) + "', 'fortran_order': False, 'shape': (";
    for (const std::uint64_t size : shape)
        header += std::to_string(size) + ", ";
    if (shape.size() > 1)
        header.erase(header.size() - 2);
    header += "), }";
    const std::size_t unpadded = beforeHeader + header.size() + 1;
    header.append((alignment - unpadded % alignment) % alignment, ' ');
    header += '\n';
    std::string start("\x93NUMPY\x01\x00", 8);
    start += static_cast<char>(header.size() & 0xFFU);
    start += static_cast<char>(header.size() >> 8U);
    return start + header;
}

} // namespace

Result<NpyFile> NpyFile::create(const std::filesystem::path& path, std::string_view descr,
                                std::vector<std::uint64_t> shape)
{
    auto file = OutputFile::create(path, OutputFile::Stale::Leave);
    if (!file)
        return file.error();
    if (auto written = file->write(headerOf(descr, shape)); !written)
        return written.error();
    return NpyFile(std::move(*file));
}

ArrayForm arrayFormOf(numeric::DType dtype, bool raw)
{
    using numeric::DType;
    switch (dtype) {
    case DType::BF16:
    case DType::FP16:
        return raw ? ArrayForm{"<u2", false} : ArrayForm{"<f4", true};
    case DType::E4M3FN:
    case DType::E5M2:
    case DType::E4M3FNUZ:
    case DType::E5M2FNUZ:
        return raw ? ArrayForm{"|u1", false} : ArrayForm{"<f4", true};
    case DType::FP32:
        return {"<f4", false};
    case DType::FP64:
        return {"<f8", false};
    case DType::I8:
        return {"|i1", false};
    case DType::I16:
        return {"<i2", false};
    case DType::I32:
        return {"<i4", false};
    case DType::I64:
        return {"<i8", false};
    case DType::U8:
        return {"|u1", false};
    case DType::Bool:
        return {"|b1", false};
    }
    return {};
}

void appendRow(std::vector<std::byte>& out, const std::byte* data, numeric::DType dtype,
               std::size_t width, ArrayForm form)
{
    const std::size_t before = out.size();
    if (!form.widened) {
        out.insert(out.end(), data, data + width * numeric::sizeOf(dtype));
        return;
    }
    out.resize(before + width * sizeof(float));
    for (std::size_t i = 0; i < width; ++i) {
        const auto value =
            static_cast<float>(numeric::toDouble(numeric::bitsAt(data, dtype, i), dtype));
        std::memcpy(out.data() + before + i * sizeof(float), &value, sizeof(float));
    }
}

} // namespace moire::report
