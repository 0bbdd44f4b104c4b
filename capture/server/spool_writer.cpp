// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/server/spool_writer.h"

#include "core/wire/protocol.h"

#include <sys/stat.h>
#include <system_error>
#include <utility>

namespace moire::capture {

namespace fs = std::filesystem;

namespace {

std::uint64_t bytesOnDisk(const fs::path& path)
{
    constexpr std::uint64_t block = 512; // of st_blocks, whatever the file system's are
    struct stat status = {};
    if (::stat(path.c_str(), &status) != 0)
        return 0;
    return static_cast<std::uint64_t>(status.st_blocks) * block;
}

wire::Packed packed(const wire::Fields& fields)
{
    return {wire::Frame::of(wire::encodeFields(fields)), {}};
}

} // namespace

SpoolPaths SpoolPaths::of(const fs::path& folder, const std::string& run)
{
    return {folder / (run + ".moire"), folder / (run + ".log")};
}

std::uint64_t SpoolPaths::bytes() const
{
    return bytesOnDisk(capture) + bytesOnDisk(store::partialPathOf(capture)) + bytesOnDisk(index);
}

void SpoolPaths::remove() const
{
    std::error_code ignored;
    // The index last: without it nobody knows that the capture is ours.
    for (const fs::path& path : {capture, store::partialPathOf(capture), index})
        fs::remove(path, ignored);
}

namespace spool {

wire::Packed packRows(trace::RowIndex first, std::size_t count)
{
    return packed({{"t", wire::type::rows}, {"first", first}, {"count", count}});
}

wire::Packed packEnded(double seconds, double waited, std::uint64_t messages)
{
    return packed({{"t", ended}, {"seconds", seconds}, {"waited", waited}, {"messages", messages}});
}

} // namespace spool

SpoolWriter::SpoolWriter(SpoolPaths paths, std::string run, SpoolIndex index)
    : m_paths(std::move(paths))
    , m_run(std::move(run))
    , m_index(std::move(index))
    , m_source(std::make_shared<SpooledRows>(m_paths.capture))
{}

Result<std::unique_ptr<SpoolWriter>> SpoolWriter::create(const fs::path& folder, const Run& run,
                                                         const trace::RunHeader& header)
{
    const SpoolPaths paths = SpoolPaths::of(folder, run.name);
    auto index = SpoolIndex::create(paths.index);
    if (!index)
        return index.error();
    std::unique_ptr<SpoolWriter> spool(new SpoolWriter(paths, run.name, *std::move(index)));
    store::WriterOptions options;
    options.expectedRows = run.planned.rows;
    options.expectedRowsExact = run.planned.exact;
    options.flushBytes = std::min(options.flushBytes, run.flushBytes);
    auto writer = store::Writer::create(paths.capture, header, options);
    const auto opened = [&]() -> Result<void> {
        if (!writer)
            return writer.error();
        if (auto added = spool->m_index.add(
                packed({{"t", spool::about}, {"run", run.name}, {"model", run.model}}));
            !added)
            return added;
        return spool->m_index.add(wire::packBegin(spool->place(), header, run.planned));
    }();
    if (!opened) {
        if (writer)
            writer->reset();
        paths.remove();
        return opened.error();
    }
    spool->m_writer = *std::move(writer);
    return spool;
}

Result<void> SpoolWriter::beginSample(trace::SampleIndex index, const trace::Sample& sample,
                                      const std::vector<trace::Token>& prompt)
{
    if (const auto begun = m_writer->beginSample(sample, prompt); !begun)
        return begun.error();
    return m_index.add(wire::packSample(place(), index, sample, prompt));
}

Result<void> SpoolWriter::addTokens(trace::SampleIndex sample, std::uint32_t first,
                                    const std::vector<trace::Token>& tokens)
{
    if (auto added = m_writer->addTokens(sample, tokens); !added)
        return added;
    return m_index.add(wire::packTokens(place(), sample, first, tokens));
}

Result<void> SpoolWriter::append(std::shared_ptr<const trace::RowBlock> block)
{
    const std::size_t count = block->rows.size();
    if (auto appended = m_writer->append(std::move(block)); !appended)
        return appended;
    m_rows += count;
    return m_index.add(spool::packRows(m_rows - count, count));
}

Result<void> SpoolWriter::addEvent(const trace::Event& event)
{
    if (auto added = m_writer->addEvent(event); !added)
        return added;
    return m_index.add(wire::packEvent(place(), event));
}

Result<void> SpoolWriter::endSample(trace::SampleIndex sample, const std::string& stopReason,
                                    const std::string& prediction)
{
    if (auto ended = m_writer->endSample(sample, stopReason, prediction); !ended)
        return ended;
    return m_index.add(wire::packSampleEnd(place(), sample, stopReason, prediction));
}

/// The index says so first: whoever is killed between the two has every row committed, and the run
/// is finished all the same.
Result<void> SpoolWriter::finish(const trace::Environment& closing)
{
    if (auto flushed = m_writer->flush(); !flushed)
        return flushed;
    if (auto added = m_index.add(wire::packFinish(place(), closing)); !added)
        return added;
    return m_writer->finish(closing);
}

Result<void> SpoolWriter::breakOff(std::string_view state, const std::string& sentence)
{
    if (auto flushed = m_writer->flush(); !flushed)
        return flushed;
    return m_index.add(wire::packBroken(place(), state, sentence));
}

Result<void> SpoolWriter::close(double seconds, double waited, std::uint64_t messages)
{
    return m_index.add(spool::packEnded(seconds, waited, messages));
}

} // namespace moire::capture
