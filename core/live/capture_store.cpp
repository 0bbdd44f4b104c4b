// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/live/capture_store.h"

#include "core/base/file.h"
#include "core/live/growing_run.h"
#include "core/live/saved_copy.h"
#include "core/store/mapped_run.h"
#include "core/store/writer.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <utility>

namespace moire::live {

namespace fs = std::filesystem;

namespace {

/// A folder of our own, which nobody else can read.
Result<fs::path> makeFolder(const fs::path& within)
{
    std::error_code failure;
    const fs::path parent = within.empty() ? fs::temp_directory_path(failure) : within;
    std::string name = (parent / "moire-live-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr)
        return base::systemError(errno, "cannot make a folder for a run", parent);
    return fs::path(name);
}

std::size_t bytesOf(const trace::RowBlock& block)
{
    const auto bytes = [](const auto& values) { return values.size() * sizeof(values[0]); };
    std::size_t total = bytes(block.rows) + bytes(block.digests) + bytes(block.counts)
                        + bytes(block.statistics) + bytes(block.topK.ids)
                        + bytes(block.topK.values);
    for (const auto& values : block.values)
        total += values.size();
    for (const trace::RoutingBlock& routing : block.routing)
        total += bytes(routing.ids) + routing.weights.size() + routing.logits.size()
                 + bytes(routing.scores);
    return total;
}

} // namespace

class CaptureStore::State
{
public:
    ~State()
    {
        writer.reset();
        parts = {};
        last.reset();
        std::error_code ignored;
        if (!folder.empty())
            fs::remove_all(folder, ignored);
    }

    CaptureStoreOptions options;
    fs::path file;
    fs::path folder; ///< our own, removed at the end; or empty
    std::unique_ptr<store::Writer> writer;
    GrowingParts parts;
    std::vector<std::shared_ptr<std::vector<trace::Token>>> tokens; ///< those of `parts`
    std::vector<bool> tokensShown; ///< by sample: a snapshot has them, so that they are copied
    std::size_t heldBytes = 0;
    trace::RunPointer last; ///< the last snapshot
    bool changed = true;

    std::vector<trace::Token>& tokensToChange(std::size_t sample);
    Result<void> readBack(trace::RowIndex rows);
};

std::vector<trace::Token>& CaptureStore::State::tokensToChange(std::size_t sample)
{
    if (tokensShown[sample]) {
        tokens[sample] = std::make_shared<std::vector<trace::Token>>(*tokens[sample]);
        parts.tokens[sample] = tokens[sample];
        tokensShown[sample] = false;
    }
    return *tokens[sample];
}

/// From now on the first `rows` rows are read from the file. Snapshots that have them in memory
/// keep them there.
Result<void> CaptureStore::State::readBack(trace::RowIndex rows)
{
    auto mapped = store::MappedRun::openOwn(parts.complete ? file : writer->partialPath(), rows);
    if (!mapped)
        return mapped.error();
    const trace::RowIndex gone =
        parts.held.dropFirst(std::min(rows, (*mapped)->rowCount()) - parts.storedRows);
    parts.storedRows += gone;
    parts.stored = std::move(*mapped);
    return {};
}

CaptureStore::CaptureStore(std::unique_ptr<State> state)
    : m_state(std::move(state))
{}

CaptureStore::~CaptureStore() = default;

Result<std::unique_ptr<CaptureStore>> CaptureStore::create(const trace::RunHeader& header,
                                                           wire::PlannedRows planned,
                                                           const CaptureStoreOptions& options)
{
    auto state = std::make_unique<State>();
    state->options = options;
    state->file = options.file;
    if (options.file.empty()) {
        auto folder = makeFolder(options.folder);
        if (!folder)
            return folder.error();
        state->folder = *folder;
        state->file = *folder / "run.moire";
    }
    store::WriterOptions how;
    how.expectedRows = planned.rows;
    how.expectedRowsExact = planned.exact;
    auto writer = store::Writer::create(state->file, header, how);
    if (!writer)
        return writer.error();
    state->writer = std::move(*writer);
    state->parts.header = std::make_shared<const trace::RunHeader>(header);
    state->parts.source = options.source;
    state->parts.expectedRows = planned.exact ? planned.rows : 0;
    return std::unique_ptr<CaptureStore>(new CaptureStore(std::move(state)));
}

Result<trace::SampleIndex> CaptureStore::beginSample(const trace::Sample& sample,
                                                     const std::vector<trace::Token>& promptTokens)
{
    auto index = m_state->writer->beginSample(sample, promptTokens);
    if (!index)
        return index;
    m_state->parts.samples.push_back(sample);
    m_state->tokens.push_back(std::make_shared<std::vector<trace::Token>>(promptTokens));
    m_state->parts.tokens.push_back(m_state->tokens.back());
    m_state->tokensShown.push_back(false);
    m_state->changed = true;
    return index;
}

Result<void> CaptureStore::addTokens(trace::SampleIndex sample,
                                     const std::vector<trace::Token>& tokens)
{
    if (auto added = m_state->writer->addTokens(sample, tokens); !added)
        return added;
    auto& all = m_state->tokensToChange(indexOf(sample));
    all.insert(all.end(), tokens.begin(), tokens.end());
    m_state->changed = true;
    return {};
}

Result<void> CaptureStore::append(trace::RowBlock block)
{
    const auto shared = std::make_shared<const trace::RowBlock>(std::move(block));
    if (auto appended = m_state->writer->append(shared); !appended)
        return appended;
    m_state->parts.held.add(shared);
    m_state->heldBytes += bytesOf(*shared);
    m_state->changed = true;
    if (m_state->heldBytes < m_state->options.heldBytes)
        return {};
    if (auto flushed = m_state->writer->flush(); !flushed)
        return flushed;
    m_state->heldBytes = 0;
    return m_state->readBack(m_state->writer->committedRows());
}

Result<void> CaptureStore::addEvent(const trace::Event& event)
{
    if (auto added = m_state->writer->addEvent(event); !added)
        return added;
    m_state->parts.events.push_back(event);
    m_state->changed = true;
    return {};
}

Result<void> CaptureStore::endSample(trace::SampleIndex sample, const std::string& stopReason,
                                     const std::string& prediction)
{
    if (auto ended = m_state->writer->endSample(sample, stopReason, prediction); !ended)
        return ended;
    trace::Sample& ours = m_state->parts.samples[indexOf(sample)];
    ours.stopReason = stopReason;
    ours.prediction = prediction;
    m_state->changed = true;
    return {};
}

Result<void> CaptureStore::finish(const trace::Environment& closing)
{
    if (auto finished = m_state->writer->finish(closing); !finished)
        return finished;
    GrowingParts& parts = m_state->parts;
    parts.complete = true;
    m_state->changed = true;
    const trace::RowIndex rows = m_state->writer->committedRows();
    if (auto read = m_state->readBack(rows); !read)
        return read;
    parts.header = std::shared_ptr<const trace::RunHeader>(parts.stored, &parts.stored->header());
    return {};
}

Result<trace::RunPointer> CaptureStore::snapshot()
{
    if (m_state->changed) {
        ++m_state->parts.generation;
        m_state->last = std::make_shared<GrowingRun>(m_state->parts);
        m_state->tokensShown.assign(m_state->tokensShown.size(), true);
        m_state->changed = false;
    }
    return m_state->last;
}

fs::path CaptureStore::path() const
{
    return m_state->parts.complete ? m_state->file : m_state->writer->partialPath();
}

Result<void> CaptureStore::saveAs(const fs::path& path)
{
    std::error_code ignored;
    if (fs::weakly_canonical(path, ignored) == fs::weakly_canonical(m_state->file, ignored)
        || fs::equivalent(path, this->path(), ignored))
        return Error{Errc::Invalid, "is the file that the run is recorded into", path.string(),
                     "Name another file"};
    if (!m_state->parts.complete)
        if (auto flushed = m_state->writer->flush(); !flushed)
            return flushed;
    return copyWhole(this->path(), path);
}

} // namespace moire::live
