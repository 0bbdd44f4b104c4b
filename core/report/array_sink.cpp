// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/report/array_sink.h"

#include "core/base/text.h"
#include "core/report/csv.h"
#include "core/report/npy.h"
#include "core/report/number.h"
#include "core/report/output_file.h"

#include <algorithm>
#include <optional>

namespace moire::report {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t longestFileName = 255;

class NpySink : public ArraySink
{
public:
    NpySink(fs::path folder, bool raw)
        : m_folder(std::move(folder))
        , m_raw(raw)
    {}

    Result<void> begin(const ArrayInfo& info) override
    {
        const auto path = arrayPath(m_folder, info.name, ".npy");
        if (!path)
            return path.error();
        m_info = info;
        m_form = arrayFormOf(info.dtype, m_raw);
        std::vector<std::uint64_t> shape{info.rows};
        if (info.width > 0)
            shape.push_back(info.width);
        auto file = NpyFile::create(*path, m_form.descr, shape);
        if (!file)
            return file.error();
        m_file = std::move(*file);
        m_path = *path;
        return {};
    }

    Result<void> row(const std::byte* data) override
    {
        m_bytes.clear();
        appendRow(m_bytes, data, m_info.dtype, std::max<std::size_t>(1, m_info.width), m_form);
        return m_file->write(m_bytes);
    }

    Result<void> end() override
    {
        m_written.push_back(m_path);
        return m_file->commit();
    }

private:
    fs::path m_folder;
    bool m_raw;
    fs::path m_path;
    ArrayInfo m_info;
    ArrayForm m_form;
    std::optional<NpyFile> m_file;
    std::vector<std::byte> m_bytes;
};

class CsvSink : public ArraySink
{
public:
    CsvSink(fs::path folder, bool raw, const std::vector<RowLabel>& labels)
        : m_folder(std::move(folder))
        , m_raw(raw)
        , m_labels(labels)
    {}

    Result<void> begin(const ArrayInfo& info) override
    {
        const auto path = arrayPath(m_folder, info.name, ".csv");
        if (!path)
            return path.error();
        m_info = info;
        m_row = 0;
        auto file = OutputFile::create(*path);
        if (!file)
            return file.error();
        m_file = std::move(*file);
        m_path = *path;
        if (info.width == 0)
            return m_file->write("value\n");
        std::vector<std::string> head{"sample", "position"};
        for (std::uint32_t i = 0; i < info.width; ++i)
            head.push_back(std::to_string(i));
        return m_file->write(csvLine(head));
    }

    Result<void> row(const std::byte* data) override
    {
        std::vector<std::string> fields;
        if (m_info.width > 0)
            fields = {base::visibleText(m_labels[m_row].sample),
                      std::to_string(m_labels[m_row].position)};
        ++m_row;
        for (std::size_t i = 0; i < std::max<std::size_t>(1, m_info.width); ++i) {
            const std::uint64_t bits = numeric::bitsAt(data, m_info.dtype, i);
            fields.push_back(m_raw
                                 ? bitsText(bits, m_info.dtype)
                                 : valueText(numeric::toDouble(bits, m_info.dtype), m_info.dtype));
        }
        return m_file->write(csvLine(fields));
    }

    Result<void> end() override
    {
        m_written.push_back(m_path);
        return m_file->commit();
    }

private:
    fs::path m_folder;
    bool m_raw;
    const std::vector<RowLabel>& m_labels;
    fs::path m_path;
    ArrayInfo m_info;
    std::size_t m_row = 0;
    std::optional<OutputFile> m_file;
};

} // namespace

Result<fs::path> arrayPath(const fs::path& folder, const std::string& name, std::string_view ending)
{
    const std::string file = name + std::string(ending);
    const bool plain = !name.empty() && name.front() != '.' && file.size() <= longestFileName
                       && name.find('/') == std::string::npos
                       && name.find('\0') == std::string::npos;
    if (!plain)
        return Error{Errc::Damaged,
                     "the name '" + base::visibleText(name) + "' cannot be a file name",
                     {},
                     "Leave it out with --taps"};
    return folder / file;
}

std::unique_ptr<ArraySink> npySink(fs::path folder, bool raw)
{
    return std::make_unique<NpySink>(std::move(folder), raw);
}

std::unique_ptr<ArraySink> csvSink(fs::path folder, bool raw, const std::vector<RowLabel>& labels)
{
    return std::make_unique<CsvSink>(std::move(folder), raw, labels);
}

} // namespace moire::report
