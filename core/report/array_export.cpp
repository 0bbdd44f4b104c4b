// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/report/array_export.h"

#include "core/base/text.h"
#include "core/report/json_value.h"
#include "core/report/npy.h"

#include <algorithm>

namespace moire::report {

namespace {

namespace fs = std::filesystem;
using trace::RowIndex;

constexpr std::size_t longestFileName = 255;

/// Names come from the capture: one that would leave the folder is refused.
Result<fs::path> arrayPath(const fs::path& folder, const std::string& name)
{
    const std::string file = name + ".npy";
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
    for (std::size_t i = 0; i < run.samples().size(); ++i)
        if (!options.sample || run.samples()[i].id == *options.sample)
            selection.samples.push_back(static_cast<trace::SampleIndex>(i));
    if (options.sample && selection.samples.empty())
        return Error{Errc::NotFound, "has no sample '" + base::visibleText(*options.sample) + "'",
                     run.source(), "See 'moire-diff info' for its samples"};
    Patterns patterns(options.tapPatterns);
    const trace::RunHeader& header = run.header();
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
    Exporter(const trace::Run& run, fs::path folder, bool raw, Selection selection)
        : m_run(run)
        , m_folder(std::move(folder))
        , m_raw(raw)
        , m_selection(std::move(selection))
    {}
    Exporter(const Exporter&) = delete;
    Exporter& operator=(const Exporter&) = delete;
    ~Exporter()
    {
        if (m_done)
            return;
        std::error_code ignored;
        for (const fs::path& path : m_written)
            fs::remove(path, ignored);
        if (m_madeFolder)
            fs::remove(m_folder, ignored);
    }

    Result<void> writeAll(const std::stop_token& stop, base::Progress& progress);
    std::uint64_t finish()
    {
        m_done = true;
        return m_written.size() - 1; // rows.json is no array
    }

private:
    Result<void> makeFolder();
    Result<void> writeTap(std::size_t tap);
    Result<void> writeRouterIds(std::size_t router);
    Result<void> writeRouterWeights(std::size_t router);
    Result<void> writeGenerated();
    Result<void> writeRows();
    /// Makes `<name>.npy`, rows × width, from fill(row, bytes).
    template <class Fill>
    Result<void> writeRowsOf(const std::string& name, std::string_view descr, std::uint64_t width,
                             Fill fill);

    const trace::Run& m_run;
    fs::path m_folder;
    bool m_raw;
    Selection m_selection;
    std::vector<fs::path> m_written;
    bool m_madeFolder = false;
    bool m_done = false;
};

Result<void> Exporter::makeFolder()
{
    std::error_code code;
    m_madeFolder = fs::create_directories(m_folder, code);
    if (!fs::is_directory(m_folder))
        return Error{Errc::Io, "cannot make the folder", m_folder.string(),
                     "Name one that can be written to"};
    return {};
}

template <class Fill>
Result<void> Exporter::writeRowsOf(const std::string& name, std::string_view descr,
                                   std::uint64_t width, Fill fill)
{
    const auto path = arrayPath(m_folder, name);
    if (!path)
        return path.error();
    auto file = NpyFile::create(*path, descr, {m_selection.rows.size(), width});
    if (!file)
        return file.error();
    std::vector<std::byte> bytes;
    for (const RowIndex r : m_selection.rows) {
        bytes.clear();
        if (Result<void> filled = fill(r, bytes); !filled)
            return filled;
        if (auto written = file->write(bytes); !written)
            return written;
    }
    m_written.push_back(*path);
    return file->commit();
}

Result<void> Exporter::writeTap(std::size_t tap)
{
    const trace::Tap& info = m_run.header().taps[tap];
    const ArrayForm form = arrayFormOf(info.dtype, m_raw);
    const auto fill = [&](RowIndex r, std::vector<std::byte>& bytes) -> Result<void> {
        const auto view = m_run.values(static_cast<trace::TapIndex>(tap), r, r + 1);
        if (!view)
            return view.error();
        appendRow(bytes, view->row(r), info.dtype, info.width, form);
        return {};
    };
    return writeRowsOf(info.name, form.descr, info.width, fill);
}

Result<void> Exporter::writeRouterIds(std::size_t router)
{
    const trace::RouterLayer& info = m_run.header().routers[router];
    const auto fill = [&](RowIndex r, std::vector<std::byte>& bytes) -> Result<void> {
        const auto view = m_run.routing(router, r);
        if (!view)
            return view.error();
        const auto ids = std::as_bytes(view->ids);
        bytes.insert(bytes.end(), ids.begin(), ids.end());
        return {};
    };
    return writeRowsOf(info.module + ".ids", "<i4", info.chosen, fill);
}

Result<void> Exporter::writeRouterWeights(std::size_t router)
{
    const trace::RouterLayer& info = m_run.header().routers[router];
    const ArrayForm form = arrayFormOf(info.weightType, m_raw);
    const auto fill = [&](RowIndex r, std::vector<std::byte>& bytes) -> Result<void> {
        const auto view = m_run.routing(router, r);
        if (!view)
            return view.error();
        appendRow(bytes, view->weights, info.weightType, info.chosen, form);
        return {};
    };
    return writeRowsOf(info.module + ".weights", form.descr, info.chosen, fill);
}

Result<void> Exporter::writeGenerated()
{
    std::vector<std::int32_t> ids;
    for (const trace::SampleIndex sample : m_selection.samples)
        for (const trace::Token& token : m_run.tokens(sample))
            if (token.response)
                ids.push_back(token.id);
    const fs::path path = m_folder / "gen.ids.npy";
    auto file = NpyFile::create(path, "<i4", {ids.size()});
    if (!file)
        return file.error();
    if (auto written = file->write(std::as_bytes(std::span(ids))); !written)
        return written;
    m_written.push_back(path);
    return file->commit();
}

Result<void> Exporter::writeRows()
{
    Json rows = Json::array();
    for (const RowIndex r : m_selection.rows) {
        const trace::Row row = m_run.row(r);
        rows.push_back({{"sample", stringOf(m_run.samples()[trace::indexOf(row.sample)].id)},
                        {"position", row.position},
                        {"phase", trace::nameOf(row.phase)}});
    }
    const fs::path path = m_folder / "rows.json";
    m_written.push_back(path);
    return writeFile(path, printed(rows));
}

Result<void> Exporter::writeAll(const std::stop_token& stop, base::Progress& progress)
{
    if (auto made = makeFolder(); !made)
        return made;
    const auto each = [&](const std::vector<std::size_t>& list,
                          Result<void> (Exporter::*write)(std::size_t)) -> Result<void> {
        for (const std::size_t index : list) {
            if (stop.stop_requested())
                return Error{Errc::Cancelled, "cancelled", {}, {}};
            if (auto written = (this->*write)(index); !written)
                return written;
            ++progress.done;
        }
        return {};
    };
    progress.total =
        m_selection.taps.size() + m_selection.routerIds.size() + m_selection.routerWeights.size();
    if (auto written = each(m_selection.taps, &Exporter::writeTap); !written)
        return written;
    if (auto written = each(m_selection.routerIds, &Exporter::writeRouterIds); !written)
        return written;
    if (auto written = each(m_selection.routerWeights, &Exporter::writeRouterWeights); !written)
        return written;
    if (auto written = writeGenerated(); !written)
        return written;
    return writeRows();
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
    Exporter exporter(run, folder, options.raw, std::move(*selection));
    if (auto written = exporter.writeAll(stop, progress); !written)
        return written.error();
    if (auto sound = run.stillSound(); !sound) // what shrank meanwhile was read as zeros
        return sound.error();
    result.arrays = exporter.finish();
    return result;
}

} // namespace moire::report
