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
#include <set>

namespace moire::report {

namespace {

namespace fs = std::filesystem;

/// What file systems take, less an ending and the mark of what is half written.
constexpr std::size_t longestName = 255 - 30;

class NpySink : public ArraySink
{
public:
    NpySink(fs::path folder, bool raw)
        : m_folder(std::move(folder))
        , m_raw(raw)
    {}

    Result<void> begin(const ArrayInfo& info) override
    {
        m_path = m_folder / (info.file + ".npy");
        m_info = info;
        m_form = arrayFormOf(info.dtype, m_raw);
        std::vector<std::uint64_t> shape{info.rows};
        if (info.width > 0)
            shape.push_back(info.width);
        auto file = NpyFile::create(m_path, m_form.descr, shape);
        if (!file)
            return file.error();
        m_file = std::move(*file);
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
    CsvSink(fs::path folder, bool raw, const std::vector<RowLabel>& labels,
            const std::vector<RowLabel>& elements)
        : m_folder(std::move(folder))
        , m_raw(raw)
        , m_labels(labels)
        , m_elements(elements)
    {}

    Result<void> begin(const ArrayInfo& info) override
    {
        m_path = m_folder / (info.file + ".csv");
        m_info = info;
        m_row = 0;
        auto file = OutputFile::create(m_path, OutputFile::Stale::Leave);
        if (!file)
            return file.error();
        m_file = std::move(*file);
        std::vector<std::string> head{"sample", "position"};
        if (info.width == 0)
            head.emplace_back("value");
        for (std::uint32_t i = 0; i < info.width; ++i)
            head.push_back(std::to_string(i));
        return m_file->write(csvLine(head));
    }

    Result<void> row(const std::byte* data) override
    {
        const RowLabel& label = (m_info.width > 0 ? m_labels : m_elements)[m_row];
        ++m_row;
        std::vector<std::string> fields{base::visibleText(label.sample),
                                        std::to_string(label.position)};
        for (std::size_t i = 0; i < std::max<std::size_t>(1, m_info.width); ++i) {
            const std::uint64_t bits = numeric::bitsAt(data, m_info.dtype, i);
            fields.push_back(m_raw ? bitsText(bits, m_info.dtype)
                                   : elementText(bits, m_info.dtype));
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
    const std::vector<RowLabel>& m_elements;
    fs::path m_path;
    ArrayInfo m_info;
    std::size_t m_row = 0;
    std::optional<OutputFile> m_file;
};

} // namespace

void nameFiles(std::vector<ArrayInfo>& arrays, bool (*fit)(const std::string&))
{
    std::set<std::string> taken;
    for (const bool lists : {true, false})
        for (ArrayInfo& array : arrays)
            if ((array.width == 0) == lists && fit(array.name) && taken.insert(array.name).second)
                array.file = array.name;
    for (std::size_t i = 0; i < arrays.size(); ++i) {
        if (!arrays[i].file.empty())
            continue;
        arrays[i].file = "array-" + std::to_string(i);
        while (!taken.insert(arrays[i].file).second)
            arrays[i].file += '-';
    }
}

bool fitsAFile(const std::string& name)
{
    return !name.empty() && name.front() != '.' && name.size() <= longestName
           && name.find('/') == std::string::npos && base::visibleText(name) == name;
}

bool fitsSafetensors(const std::string& name)
{
    return name != "__metadata__" && base::isValidUtf8(name);
}

std::unique_ptr<ArraySink> npySink(fs::path folder, bool raw)
{
    return std::make_unique<NpySink>(std::move(folder), raw);
}

std::unique_ptr<ArraySink> csvSink(fs::path folder, bool raw, const std::vector<RowLabel>& labels,
                                   const std::vector<RowLabel>& elements)
{
    return std::make_unique<CsvSink>(std::move(folder), raw, labels, elements);
}

} // namespace moire::report
