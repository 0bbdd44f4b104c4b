// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/report/array_export.h"

#include "core/base/text.h"
#include "core/diff/sample_name.h"
#include "core/diff/site_values.h"
#include "core/diff/tap_spelling.h"
#include "core/report/array_sink.h"
#include "core/report/json_value.h"
#include "core/report/output_file.h"
#include "core/report/partial_file.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <set>
#include <span>

namespace moire::report {

namespace {

namespace fs = std::filesystem;
using trace::RowIndex;

constexpr const char* rowsName = "rows.json";
constexpr const char* namesName = "names.json";

Error cancelled()
{
    return {Errc::Cancelled, "the export was cancelled", {}, {}};
}

struct Selection
{
    std::vector<RowIndex> rows; ///< sample order, then position
    std::vector<trace::SampleIndex> samples;
    std::vector<std::size_t> taps;
    std::vector<std::size_t> routerIds, routerWeights;
};

/// Which patterns have matched something.
class Patterns
{
public:
    explicit Patterns(const std::vector<std::string>& patterns)
        : m_patterns(patterns)
        , m_used(patterns.size(), false)
    {}
    bool match(std::string_view name)
    {
        bool found = m_patterns.empty();
        for (std::size_t i = 0; i < m_patterns.size(); ++i)
            if (base::globMatches(m_patterns[i], name))
                m_used[i] = found = true;
        return found;
    }
    const std::string* unused() const
    {
        const auto at = std::find(m_used.begin(), m_used.end(), false);
        return at == m_used.end() ? nullptr
                                  : &m_patterns[static_cast<std::size_t>(at - m_used.begin())];
    }

private:
    const std::vector<std::string>& m_patterns;
    std::vector<bool> m_used;
};

/// The patterns as the capture spells its names; as they are where they match nothing.
std::vector<std::string> spelledPatterns(const trace::RunHeader& header,
                                         const std::vector<std::string>& patterns)
{
    const auto exists = [&header](const std::string& name) {
        const auto isLike = [&name](const std::string& other) {
            return base::globMatches(name, other);
        };
        return std::any_of(header.taps.begin(), header.taps.end(),
                           [&](const trace::Tap& tap) { return isLike(tap.name); })
               || std::any_of(header.routers.begin(), header.routers.end(),
                              [&](const trace::RouterLayer& router) {
                                  return isLike(router.module + ".ids")
                                         || isLike(router.module + ".weights")
                                         || isLike(router.module + ".out");
                              });
    };
    std::vector<std::string> spelled;
    for (const std::string& pattern : patterns)
        spelled.push_back(diff::spelledOut(pattern, exists).value_or(pattern));
    return spelled;
}

void selectRows(const trace::Run& run, Selection& selection)
{
    std::vector<bool> wanted(run.samples().size(), false);
    for (const trace::SampleIndex sample : selection.samples)
        wanted[trace::indexOf(sample)] = true;
    std::vector<trace::Row> rows;
    rows.reserve(run.rowCount());
    for (RowIndex r = 0; r < run.rowCount(); ++r) {
        rows.push_back(run.row(r));
        if (wanted[trace::indexOf(rows.back().sample)])
            selection.rows.push_back(r);
    }
    std::stable_sort(selection.rows.begin(), selection.rows.end(), [&](RowIndex a, RowIndex b) {
        return std::pair(rows[a].sample, rows[a].position)
               < std::pair(rows[b].sample, rows[b].position);
    });
}

Result<Selection> select(const trace::Run& run, const ArrayExportOptions& options)
{
    Selection selection;
    const auto named = options.sample ? diff::findSampleNamed(run, *options.sample) : std::nullopt;
    for (std::size_t i = 0; i < run.samples().size(); ++i) {
        const auto sample = static_cast<trace::SampleIndex>(i);
        if (!options.sample || run.samples()[i].id == *options.sample || sample == named)
            selection.samples.push_back(sample);
    }
    if (options.sample && selection.samples.empty())
        return Error{Errc::NotFound, "has no sample '" + base::visibleText(*options.sample) + "'",
                     run.source(), "See 'moire-diff info' for its samples"};
    const trace::RunHeader& header = run.header();
    const std::vector<std::string> asked = spelledPatterns(header, options.tapPatterns);
    Patterns patterns(asked);
    for (std::size_t i = 0; i < header.taps.size(); ++i)
        if (patterns.match(header.taps[i].name) && header.level == trace::Level::Full)
            selection.taps.push_back(i);
    for (std::size_t i = 0; i < header.routers.size(); ++i) {
        const std::string& module = header.routers[i].module;
        const bool whole = patterns.match(module + ".out");
        if (patterns.match(module + ".ids") || whole)
            selection.routerIds.push_back(i);
        if (patterns.match(module + ".weights") || whole)
            selection.routerWeights.push_back(i);
    }
    if (const std::string* unused = patterns.unused())
        return Error{Errc::Invalid, "the pattern '" + *unused + "' matches no tap of it",
                     run.source(), "See 'moire-diff info' for its taps"};
    selectRows(run, selection);
    return selection;
}

/// Does the writing, and takes back what it wrote unless it came to its end.
class Exporter
{
public:
    Exporter(const trace::Run& run, fs::path folder, const ArrayExportOptions& options,
             Selection selection)
        : m_run(run)
        , m_folder(std::move(folder))
        , m_selection(std::move(selection))
        , m_names(diff::sampleNames(run))
    {
        for (const RowIndex r : m_selection.rows) {
            const trace::Row row = run.row(r);
            m_labels.push_back({m_names[trace::indexOf(row.sample)], row.position});
        }
        listArrays();
        nameArrays(options.format);
        if (options.format == ArrayFormat::Csv)
            m_sink = csvSink(m_folder, options.raw, m_labels, m_generatedLabels);
        else if (options.format == ArrayFormat::Safetensors)
            m_sink = safetensorsSink(m_folder, options.raw, m_infos);
        else
            m_sink = npySink(m_folder, options.raw);
    }
    Exporter(const Exporter&) = delete;
    Exporter& operator=(const Exporter&) = delete;
    ~Exporter()
    {
        if (m_done)
            return;
        std::error_code ignored;
        const std::vector<fs::path> written = m_sink->written();
        m_sink.reset(); // and with it the file that was being written
        for (const auto& paths : {written, m_documents, m_madeFolders})
            for (const fs::path& path : paths)
                fs::remove(path, ignored);
    }

    Result<void> writeAll(const std::stop_token& stop, base::Progress& progress);
    std::uint64_t finish()
    {
        m_done = true;
        return m_arrays.size();
    }

private:
    /// Reads one row of an array; the bytes live until the next call.
    using ReadRow = std::function<Result<const std::byte*>(RowIndex)>;
    struct Array
    {
        ArrayInfo info;
        ReadRow read; ///< empty: the list of generated ids
    };

    void listArrays();
    void nameArrays(ArrayFormat format);
    Result<void> makeFolder();
    void sweepFolder() const;
    Result<void> write(std::size_t array, const std::stop_token& stop);
    Result<void> writeGenerated();
    Result<void> writeRows();
    Result<void> writeNames();
    Result<void> writeDocument(const char* name, const Json& content);

    const trace::Run& m_run;
    fs::path m_folder;
    Selection m_selection;
    std::vector<std::string> m_names; ///< of the samples
    std::vector<RowLabel> m_labels;
    std::vector<Array> m_arrays;
    std::vector<ArrayInfo> m_infos; ///< of m_arrays
    std::vector<std::int32_t> m_generated;
    std::vector<RowLabel> m_generatedLabels;
    std::unique_ptr<ArraySink> m_sink;
    std::vector<fs::path> m_madeFolders; ///< innermost first
    std::vector<fs::path> m_documents;   ///< beside the arrays, written or begun
    bool m_done = false;
};

void Exporter::listArrays()
{
    const trace::RunHeader& header = m_run.header();
    const std::uint64_t rows = m_selection.rows.size();
    for (const std::size_t tap : m_selection.taps) {
        const trace::Tap& info = header.taps[tap];
        m_arrays.push_back({{info.name, info.dtype, rows, info.width},
                            [this, tap](RowIndex r) -> Result<const std::byte*> {
                                const auto view =
                                    diff::soundValues(m_run, static_cast<trace::TapIndex>(tap), r);
                                if (!view)
                                    return view.error();
                                return view->row(r);
                            }});
    }
    const auto routing = [this](std::size_t router, bool weights) -> ReadRow {
        return [this, router, weights](RowIndex r) -> Result<const std::byte*> {
            const auto view = m_run.routing(router, r);
            if (!view)
                return view.error();
            return weights ? view->weights : std::as_bytes(view->ids).data();
        };
    };
    for (const std::size_t router : m_selection.routerIds) {
        const trace::RouterLayer& info = header.routers[router];
        m_arrays.push_back({{info.module + ".ids", numeric::DType::I32, rows, info.chosen},
                            routing(router, false)});
    }
    for (const std::size_t router : m_selection.routerWeights) {
        const trace::RouterLayer& info = header.routers[router];
        m_arrays.push_back({{info.module + ".weights", info.weightType, rows, info.chosen},
                            routing(router, true)});
    }
    for (const trace::SampleIndex sample : m_selection.samples) {
        const auto tokens = m_run.tokens(sample);
        for (std::size_t i = 0; i < tokens.size(); ++i) {
            if (!tokens[i].response)
                continue;
            m_generated.push_back(tokens[i].id);
            m_generatedLabels.push_back(
                {m_names[trace::indexOf(sample)], static_cast<std::uint32_t>(i)});
        }
    }
    m_arrays.push_back({{"gen.ids", numeric::DType::I32, m_generated.size(), 0}, {}});
}

void Exporter::nameArrays(ArrayFormat format)
{
    for (const Array& array : m_arrays)
        m_infos.push_back(array.info);
    nameFiles(m_infos, format == ArrayFormat::Safetensors ? fitsSafetensors : fitsAFile);
}

Result<void> Exporter::makeFolder()
{
    std::error_code code;
    for (fs::path at = m_folder; !at.empty() && !fs::exists(at, code); at = at.parent_path())
        m_madeFolders.push_back(at);
    fs::create_directories(m_folder, code);
    if (!fs::is_directory(m_folder, code))
        return Error{Errc::Io, "cannot make the folder", m_folder.string(),
                     "Name one that can be written to"};
    sweepFolder();
    return {};
}

void Exporter::sweepFolder() const
{
    std::set<std::string, std::less<>> ours{"capture.safetensors", rowsName, namesName};
    for (const ArrayInfo& info : m_infos)
        for (const char* ending : {".npy", ".csv"})
            ours.insert(info.file + ending);
    sweepPartialFiles(m_folder, [&](std::string_view name) { return ours.contains(name); });
}

Result<void> Exporter::write(std::size_t i, const std::stop_token& stop)
{
    const Array& array = m_arrays[i];
    if (auto begun = m_sink->begin(m_infos[i]); !begun)
        return begun;
    if (!array.read)
        return writeGenerated();
    for (const RowIndex r : m_selection.rows) {
        if (stop.stop_requested())
            return cancelled();
        const auto data = array.read(r);
        if (!data)
            return data.error();
        if (auto written = m_sink->row(*data); !written)
            return written;
    }
    return m_sink->end();
}

Result<void> Exporter::writeGenerated()
{
    for (const std::int32_t& id : m_generated)
        if (auto written = m_sink->row(std::as_bytes(std::span(&id, 1)).data()); !written)
            return written;
    return m_sink->end();
}

Result<void> Exporter::writeRows()
{
    Json rows = Json::array();
    for (std::size_t i = 0; i < m_labels.size(); ++i)
        rows.push_back({{"sample", stringOf(m_labels[i].sample)},
                        {"position", m_labels[i].position},
                        {"phase", trace::nameOf(m_run.row(m_selection.rows[i]).phase)}});
    return writeDocument(rowsName, rows);
}

Result<void> Exporter::writeNames()
{
    Json names;
    for (const ArrayInfo& info : m_infos)
        if (info.file != info.name)
            names[info.file] = stringOf(info.name);
    return names.empty() ? Result<void>() : writeDocument(namesName, names);
}

Result<void> Exporter::writeDocument(const char* name, const Json& content)
{
    m_documents.push_back(m_folder / name);
    return writeFile(m_documents.back(), printed(content));
}

Result<void> Exporter::writeAll(const std::stop_token& stop, base::Progress& progress)
{
    if (auto made = makeFolder(); !made)
        return made;
    progress.total = m_arrays.size();
    for (std::size_t i = 0; i < m_arrays.size(); ++i) {
        if (stop.stop_requested())
            return cancelled();
        if (auto written = write(i, stop); !written)
            return written;
        ++progress.done;
    }
    if (auto finished = m_sink->finish(); !finished)
        return finished;
    if (auto written = writeRows(); !written)
        return written;
    return writeNames();
}

} // namespace

Result<ArrayExportResult> exportArrays(const trace::Run& run, const fs::path& folder,
                                       const ArrayExportOptions& options, std::stop_token stop,
                                       base::Progress& progress)
{
    auto selection = select(run, options);
    if (!selection)
        return selection.error();
    ArrayExportResult result;
    result.rows = selection->rows.size();
    result.valuesAbsent = run.header().level != trace::Level::Full;
    Exporter exporter(run, folder, options, std::move(*selection));
    if (auto written = exporter.writeAll(stop, progress); !written)
        return written.error();
    if (auto sound = run.stillSound(); !sound) // what shrank meanwhile was read as zeros
        return sound.error();
    result.arrays = exporter.finish();
    return result;
}

} // namespace moire::report
