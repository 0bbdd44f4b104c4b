// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/store/verify.h"

#include "core/store/row_checks.h"
#include "core/store/row_places.h"
#include "core/store/run_tables.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <thread>
#include <utility>

namespace moire::store {

namespace {

/// Rows that one worker checks between two looks at what the others found.
constexpr std::uint64_t rowsPerPiece = 32;

/// What consecutive rows gave.
struct Piece
{
    std::vector<Finding> findings;
    std::uint64_t digest = 0;
};

/// One walk over an open capture, on several threads. Pieces are handed out in row order and no
/// further one once those handed out hold enough findings, so that the first findings in row order
/// are the same ones at any number of threads.
class Verification
{
public:
    Verification(CaptureFile& file, const RunTables& tables, const RowPlaces& rows,
                 const VerifyOptions& options)
        : m_file(file)
        , m_tables(tables)
        , m_rows(rows)
        , m_checks(tables, rows)
        , m_options(options)
        , m_pieces((rows.rowCount() + rowsPerPiece - 1) / rowsPerPiece)
    {
        for (const std::string& place : file.disagreements())
            note(place, "the content does not give the recorded digest");
    }

    Result<std::vector<Finding>> run(const std::stop_token& stop, base::Progress& progress)
    {
        progress.total = m_rows.rowCount();
        checkEvents();
        m_found = m_findings.size();
        {
            const std::size_t workers = std::clamp<std::size_t>(
                m_options.threads, 1, std::max<std::size_t>(1, m_pieces.size()));
            std::vector<std::jthread> others;
            for (std::size_t i = 1; i < workers; ++i)
                others.emplace_back([&] { work(stop, progress); });
            work(stop, progress);
        }
        if (stop.stop_requested())
            return Error{Errc::Cancelled, "the verification was cancelled", m_file.name(), {}};
        if (m_failed)
            return Error{Errc::Internal, "the rows could not be checked", m_file.name(), {}};
        collect();
        if (auto sound = m_file.stillSound(); !sound)
            return sound.error();
        return std::move(m_findings);
    }

private:
    bool full() const { return m_findings.size() >= m_options.limit; }
    void note(const std::string& place, const std::string& sentence)
    {
        if (!full())
            m_findings.push_back({place, sentence});
    }

    void checkEvents()
    {
        for (std::size_t i = 0; i < m_tables.events.size(); ++i)
            if (m_tables.events[i].row > m_rows.rowCount())
                note("/events, record " + std::to_string(i), "names a row that is not there");
    }

    void work(const std::stop_token& stop, base::Progress& progress) noexcept
    {
        try {
            while (!stop.stop_requested() && !m_failed && m_found < m_options.limit) {
                const std::size_t at = m_next.fetch_add(1);
                if (at >= m_pieces.size())
                    return;
                Piece& piece = m_pieces[at];
                const std::uint64_t begin = at * rowsPerPiece;
                const std::uint64_t end = std::min(m_rows.rowCount(), begin + rowsPerPiece);
                for (std::uint64_t r = begin; r < end; ++r) {
                    m_checks.check(r, piece.findings);
                    piece.digest += m_checks.recordDigest(r);
                }
                m_found += piece.findings.size();
                progress.done += end - begin;
            }
        } catch (const std::exception&) { // out of memory: a worker may not throw
            m_failed = true;
        }
    }

    void collect()
    {
        std::uint64_t digest = 0;
        for (const Piece& piece : m_pieces) {
            digest += piece.digest;
            for (const Finding& finding : piece.findings)
                note(finding.place, finding.sentence);
        }
        const CountAndDigest& committed = m_file.commit().tables[Rows];
        if (!full() && m_rows.rowCount() == committed.count && digest != committed.digest)
            note("/rows", "the content does not give the recorded digest");
    }

    CaptureFile& m_file;
    const RunTables& m_tables;
    const RowPlaces& m_rows;
    RowChecks m_checks;
    VerifyOptions m_options;
    std::vector<Finding> m_findings;
    std::vector<Piece> m_pieces;
    std::atomic<std::size_t> m_next{0};
    std::atomic<std::size_t> m_found{0};
    std::atomic<bool> m_failed{false};
};

} // namespace

Result<std::vector<Finding>> verify(const std::filesystem::path& path, std::stop_token stop,
                                    base::Progress& progress, const VerifyOptions& options)
{
    try {
        auto file = CaptureFile::open(path, OnDisagreement::Note);
        if (!file)
            return file.error();
        auto tables = readRunTables(*file);
        if (!tables)
            return tables.error();
        auto rows = RowPlaces::find(*file, *tables);
        if (!rows)
            return rows.error();
        return Verification(*file, *tables, *rows, options).run(stop, progress);
    } catch (const std::exception& exception) {
        return Error{
            Errc::Internal, std::string("cannot verify: ") + exception.what(), path.string(), {}};
    }
}

} // namespace moire::store
