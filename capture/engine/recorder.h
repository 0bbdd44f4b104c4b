// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "capture/device/workers.h"
#include "capture/engine/tap_sink.h"
#include "core/trace/run_builder.h"

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

namespace moire::capture {

/// The TapSink that records: copies the values of every forward pass to the host, sums them up
/// (digests, classes, statistics, top-K) and hands one RowBlock a pass to a run. Below level full
/// the values are forgotten at once.
class Recorder : public TapSink
{
public:
    /// Both must outlive the recorder; `header` is the run's own. `threads` share the summing up,
    /// a row each; 0 = one for each processor.
    Recorder(const trace::RunHeader& header, trace::RunSink& run, unsigned threads);

    /// Ids whose logits are recorded at every row of this sample.
    void askFor(trace::SampleIndex sample, std::vector<std::int32_t> ids);

    bool wants(trace::TapIndex) const override { return true; }
    Result<void> begin(StepRows rows) override;
    Result<void> tensor(trace::TapIndex tap, const at::Tensor& values) override;
    Result<void> routing(std::size_t router, const at::Tensor& logits, const at::Tensor& ids,
                         const at::Tensor& weights) override;
    Result<void> logits(const at::Tensor& values,
                        std::span<const std::int32_t> nextTokens) override;
    Result<void> end() override;

private:
    /// Calls `task` for every row, on several threads where there is enough to do.
    void eachRow(std::size_t rows, std::size_t bytes, const std::function<void(std::size_t)>& task);
    void addTopK(std::size_t row, const std::byte* logits, trace::TopKBlock& entries);

    const trace::RunHeader& m_header;
    trace::RunSink& m_run;
    std::map<trace::SampleIndex, std::vector<std::int32_t>> m_asked;
    trace::RowBlock m_block;
    device::Workers m_workers;
};

} // namespace moire::capture
