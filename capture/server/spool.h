// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "capture/server/spool_writer.h"
#include "core/base/result.h"
#include "core/wire/run_log.h"

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace moire::capture {

/// A run that has ended and lies in the spool.
struct SpooledRun
{
    std::string run;
    std::string model;
    std::string state;    ///< a word of wire::state
    std::string sentence; ///< why it is not finished
    std::uint64_t rows = 0;
    std::uint64_t planned = 0;
    std::uint64_t messages = 0;
    std::uint64_t bytes = 0; ///< on the disk
    double seconds = 0;
    double waited = 0;
};

/// The daemon's folder of runs: whatever a client missed is had from here, also after the daemon
/// has been started again. One daemon a folder. Any thread, but each writer one.
class Spool
{
public:
    /// Makes the folder when it is not there, for its owner alone. `limit`: bytes, 0 = none.
    /// Errors: Io; Invalid when another daemon has it.
    static Result<std::unique_ptr<Spool>> open(const std::filesystem::path& folder,
                                               std::uint64_t limit);
    ~Spool();

    /// The runs that were found at the start, oldest first. Those that another daemon was making
    /// when it was killed end as `lost` with the last row that was committed.
    std::vector<SpooledRun> found() const { return m_found; }
    /// Begins to keep a run. Errors: Io, NoSpace.
    Result<std::unique_ptr<SpoolWriter>> begin(const SpoolWriter::Run& run,
                                               const trace::RunHeader& header);
    /// The messages of a run that lies here, with the numbers that they had.
    Result<std::shared_ptr<wire::RunLog>> read(const std::string& run,
                                               std::shared_ptr<wire::HoldLimit> hold) const;
    /// The prompts of a run that lies here, as far as it came to them.
    Result<std::vector<wire::SampleBegin>> prompts(const std::string& run) const;
    /// Has no effect on what somebody has open.
    void remove(const std::string& run);

    std::uint64_t limit() const { return m_limit; }
    std::uint64_t bytes() const;
    /// A run's files have grown or gone.
    void measure(const std::string& run);
    /// Whether so many bytes more have no place: beyond the limit, or on a full disk.
    bool isShort(std::uint64_t more) const;
    const std::filesystem::path& folder() const { return m_folder; }

private:
    Spool(std::filesystem::path folder, std::uint64_t limit, int lock)
        : m_folder(std::move(folder))
        , m_limit(limit)
        , m_lock(lock)
    {}
    void take(const std::string& run);

    std::filesystem::path m_folder;
    std::uint64_t m_limit;
    int m_lock; ///< descriptor
    std::vector<SpooledRun> m_found;
    mutable std::mutex m_mutex;
    std::map<std::string, std::uint64_t> m_sizes; ///< by run, bytes
};

} // namespace moire::capture
