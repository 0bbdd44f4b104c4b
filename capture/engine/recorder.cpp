// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/engine/recorder.h"

#include "capture/engine/operations.h"

#include <ATen/ATen.h>

#include <algorithm>

namespace moire::capture {

namespace {

at::Tensor onHost(const at::Tensor& values)
{
    return values.to(at::kCPU).contiguous();
}

const std::byte* bytesOf(const at::Tensor& host)
{
    return static_cast<const std::byte*>(host.data_ptr());
}

std::vector<std::byte> copied(const at::Tensor& host)
{
    return {bytesOf(host), bytesOf(host) + host.nbytes()};
}

template <class T>
void appendAll(std::vector<T>& all, const std::vector<T>& more)
{
    all.insert(all.end(), more.begin(), more.end());
}

} // namespace

Recorder::Recorder(const trace::RunHeader& header, trace::RunSink& run, unsigned threads)
    : m_header(header)
    , m_run(run)
    , m_workers(threads)
{}

/// Waking the threads for less than this takes longer than the work itself; a run of many short
/// samples has hundreds of such tensors a sample.
constexpr std::size_t worthThreads = std::size_t{1} << 16U;

void Recorder::eachRow(std::size_t rows, std::size_t bytes,
                       const std::function<void(std::size_t)>& task)
{
    if (bytes >= worthThreads) {
        m_workers.run(rows, task);
        return;
    }
    for (std::size_t r = 0; r < rows; ++r)
        task(r);
}

void Recorder::askFor(trace::SampleIndex sample, std::vector<std::int32_t> ids)
{
    m_asked[sample] = std::move(ids);
}

Result<void> Recorder::begin(StepRows rows)
{
    const std::size_t cells = rows.rows.size() * m_header.taps.size();
    m_block = {};
    m_block.rows = std::move(rows.rows);
    m_block.values.resize(m_header.taps.size());
    m_block.digests.resize(cells);
    m_block.counts.resize(cells);
    m_block.statistics.resize(m_header.level == trace::Level::Digest ? 0 : cells);
    m_block.routing.resize(m_header.routers.size());
    return {};
}

Result<void> Recorder::tensor(trace::TapIndex place, const at::Tensor& values)
{
    const std::size_t t = trace::indexOf(place);
    const trace::Tap& tap = m_header.taps[t];
    const std::size_t rows = m_block.rows.size();
    const at::Tensor host = onHost(values);
    if (dtypeOf(host.scalar_type()) != tap.dtype || host.nbytes() != rows * tap.rowBytes())
        return Error{Errc::Internal, "the model made other values than were planned", tap.name, {}};
    const std::byte* data = bytesOf(host);
    eachRow(rows, host.nbytes(), [&](std::size_t r) {
        const auto summary = trace::summarise(data + r * tap.rowBytes(), tap.dtype, tap.width);
        const std::size_t cell = r * m_header.taps.size() + t;
        m_block.digests[cell] = summary.digest;
        m_block.counts[cell] = summary.counts;
        if (!m_block.statistics.empty())
            m_block.statistics[cell] = summary.statistics;
    });
    if (m_header.level == trace::Level::Full)
        m_block.values[t] = copied(host);
    return {};
}

Result<void> Recorder::routing(std::size_t router, const at::Tensor& logits, const at::Tensor& ids,
                               const at::Tensor& weights)
{
    trace::RoutingBlock& block = m_block.routing[router];
    const at::Tensor hostIds = onHost(ids.to(at::kInt));
    block.ids.assign(hostIds.data_ptr<std::int32_t>(),
                     hostIds.data_ptr<std::int32_t>() + hostIds.numel());
    block.logits = copied(onHost(logits));
    block.weights = copied(onHost(weights));
    return {};
}

void Recorder::addTopK(std::size_t row, const std::byte* logits, trace::TopKBlock& entries)
{
    trace::TokenScore& score = m_block.rows[row].score;
    score = trace::appendTopK(m_header.logits, logits, score.id, entries);
    const auto asked = m_asked.find(m_block.rows[row].sample);
    for (std::size_t i = 0; i < m_header.logits.asked; ++i) {
        const bool given = asked != m_asked.end() && i < asked->second.size();
        const std::int32_t id = given ? asked->second[i] : -1;
        entries.askedIds.push_back(id);
        entries.askedValues.push_back(
            given ? static_cast<float>(numeric::toDouble(
                numeric::bitsAt(logits, m_header.logits.dtype, static_cast<std::size_t>(id)),
                m_header.logits.dtype))
                  : 0.0F);
    }
}

Result<void> Recorder::logits(const at::Tensor& values, std::span<const std::int32_t> nextTokens)
{
    if (m_header.logits.vocabulary == 0)
        return {};
    const std::size_t rows = m_block.rows.size();
    const at::Tensor host = onHost(values);
    const std::size_t rowBytes =
        m_header.logits.vocabulary * numeric::sizeOf(m_header.logits.dtype);
    if (host.nbytes() != rows * rowBytes || nextTokens.size() != rows)
        return Error{
            Errc::Internal, "the model made other logits than were planned", "lm_head.out", {}};
    std::vector<trace::TopKBlock> entries(rows);
    for (std::size_t r = 0; r < rows; ++r)
        m_block.rows[r].score.id = nextTokens[r];
    eachRow(rows, host.nbytes(),
            [&](std::size_t r) { addTopK(r, bytesOf(host) + r * rowBytes, entries[r]); });
    for (const trace::TopKBlock& row : entries) {
        appendAll(m_block.topK.ids, row.ids);
        appendAll(m_block.topK.values, row.values);
        appendAll(m_block.topK.logSumExp, row.logSumExp);
        appendAll(m_block.topK.remainingMass, row.remainingMass);
        appendAll(m_block.topK.askedIds, row.askedIds);
        appendAll(m_block.topK.askedValues, row.askedValues);
    }
    return {};
}

Result<void> Recorder::end()
{
    trace::rollUpBlock(m_header, m_block);
    return m_run.append(std::move(m_block));
}

} // namespace moire::capture
