// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "capture/engine/runner.h"

#include "capture/engine/device_choice.h"
#include "capture/engine/failure.h"
#include "capture/engine/forward.h"
#include "capture/engine/lane.h"
#include "capture/engine/model.h"
#include "capture/engine/recorder.h"
#include "capture/engine/run_environment.h"
#include "capture/model/prediction.h"
#include "core/numeric/top_k.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <chrono>
#include <map>

namespace moire::capture {

namespace env = trace::env;

namespace {

/// What a token is shown as when there is no tokenizer: "<509>".
std::string unknownToken(std::int32_t id)
{
    std::string text(1, '<');
    text += std::to_string(id);
    text += '>';
    return text;
}

std::vector<trace::Token> tokensOf(const Tokenizer* tokenizer, std::span<const std::int32_t> ids,
                                   bool response)
{
    std::vector<trace::Token> tokens;
    for (const std::int32_t id : ids)
        tokens.push_back({.id = id,
                          .response = response,
                          .bytes = tokenizer ? tokenizer->bytesOf(id) : unknownToken(id)});
    return tokens;
}

/// The token that a row's logits choose: greedily the largest, ties to the lowest id.
std::int32_t chosenToken(const at::Tensor& row, const Sampling& sampling, const Draw& draw)
{
    const at::Tensor host = row.to(at::kCPU, at::kFloat).contiguous();
    const std::span logits(host.data_ptr<float>(), static_cast<std::size_t>(host.numel()));
    if (!sampling.greedy())
        return sampleToken(logits, sampling, draw);
    return numeric::topK(logits.data(), logits.size(), 1).front().id;
}

/// The letter that the logits of a prompt's last row choose.
std::string letterOf(const at::Tensor& row, const Prompt& prompt)
{
    const at::Tensor host = row.to(at::kCPU, at::kFloat).contiguous();
    std::vector<float> logits;
    for (const std::int32_t id : prompt.askedIds)
        logits.push_back(host.data_ptr<float>()[id]);
    return letterByLogits(logits, prompt.letters);
}

/// One batch of samples from their first pass to their last.
class Batch
{
public:
    Batch(const Model& model, const TapPlan& taps, const RunOptions& options, TapSink* sink)
        : m_model(model)
        , m_taps(taps)
        , m_options(options)
        , m_sink(sink)
    {}

    void add(const Prompt& prompt, trace::SampleIndex sample)
    {
        m_lanes.emplace_back(prompt, m_options, sample, static_cast<std::uint32_t>(m_lanes.size()));
        m_prompts.push_back(&prompt);
        m_letters.emplace_back();
        m_longestPass = std::max(m_longestPass, m_lanes.back().nextIds().size());
    }

    bool done() const
    {
        return std::all_of(m_lanes.begin(), m_lanes.end(), [](const Lane& l) { return l.done(); });
    }
    std::vector<Lane>& lanes() { return m_lanes; }
    /// By lane: the letter that the logits chose, "" where none was asked for.
    const std::vector<std::string>& letters() const { return m_letters; }

    /// One pass of every sample that is not done. Returns its logits, rows × vocabulary; calls
    /// `generated(lane, id)` for every token chosen.
    template <class Generated>
    at::Tensor pass(Generated&& generated);

private:
    /// Once all samples are there.
    void makeCaches();
    Piece pieceOf(std::size_t lane);

    /// The row of a pass that ends the prompt of a lane.
    struct AnswerRow
    {
        std::size_t lane;
        std::int64_t row;
    };

    const Model& m_model;
    const TapPlan& m_taps;
    const RunOptions& m_options;
    TapSink* m_sink;
    std::vector<Lane> m_lanes;
    std::vector<const Prompt*> m_prompts; ///< of each lane
    std::vector<std::string> m_letters;
    std::size_t m_longestPass = 0; ///< tokens, of the first pass
    std::vector<KvCache> m_caches;
};

void Batch::makeCaches()
{
    const ModelPlan& plan = m_model.plan();
    for (std::size_t i = 0; i < m_lanes.size(); ++i) {
        const std::size_t padding =
            m_options.padding == Padding::None ? 0 : m_longestPass - m_lanes[i].nextIds().size();
        // What may arrive is often far less than what was announced.
        const std::uint64_t rows =
            m_options.liveTokens ? 2 * m_prompts[i]->ids.size() : rowsOf(*m_prompts[i], m_options);
        m_caches.emplace_back(m_model.cacheTypes(), plan.kvHeads, plan.headDim,
                              static_cast<std::int64_t>(rows + padding), m_model.device());
    }
}

/// What a lane's next pass takes; the first one padded where that was asked for.
Piece Batch::pieceOf(std::size_t lane)
{
    Piece piece{m_lanes[lane].nextIds(), &m_caches[lane], 0, 0};
    if (m_caches[lane].length() > 0 || m_options.padding == Padding::None)
        return piece;
    (m_options.padding == Padding::Left ? piece.padBefore : piece.padBehind) =
        static_cast<std::int64_t>(m_longestPass - piece.ids.size());
    return piece;
}

template <class Generated>
at::Tensor Batch::pass(Generated&& generated)
{
    if (m_caches.empty())
        makeCaches();
    std::vector<Piece> pieces;
    std::vector<Lane*> active;
    std::vector<AnswerRow> answers;
    std::vector<std::uint32_t> lastPositions;
    StepRows step;
    std::vector<std::int32_t> targets;
    for (std::size_t i = 0; i < m_lanes.size(); ++i) {
        if (m_lanes[i].done())
            continue;
        active.push_back(&m_lanes[i]);
        pieces.push_back(pieceOf(i));
        const auto rows = m_lanes[i].nextRows();
        lastPositions.push_back(rows.back().position);
        if (m_prompts[i]->scoring == Prompt::Scoring::Logits)
            for (std::size_t row = 0; row < rows.size(); ++row)
                if (rows[row].position + 1 == m_prompts[i]->promptLength)
                    answers.push_back({i, static_cast<std::int64_t>(step.rows.size() + row)});
        step.rows.insert(step.rows.end(), rows.begin(), rows.end());
        const auto next = m_lanes[i].nextTargets();
        targets.insert(targets.end(), next.begin(), next.end());
    }
    if (m_sink != nullptr)
        throwIfFailed(m_sink->begin(std::move(step)));
    at::Tensor logits = Forward(m_model, m_taps, m_sink).run(pieces);
    for (const AnswerRow& answer : answers)
        m_letters[answer.lane] = letterOf(logits[answer.row], *m_prompts[answer.lane]);

    std::size_t end = 0;
    std::vector<std::int32_t> chosen(active.size(), -1);
    for (std::size_t i = 0; i < active.size(); ++i) {
        end += pieces[i].ids.size();
        if (!active[i]->generatesNext())
            continue;
        const Draw draw{m_options.seed, static_cast<std::uint32_t>(indexOf(active[i]->sample())),
                        lastPositions[i]};
        targets[end - 1] = chosen[i] =
            chosenToken(logits[static_cast<std::int64_t>(end) - 1], m_options.sampling, draw);
    }
    if (m_sink != nullptr) {
        throwIfFailed(m_sink->logits(logits, targets));
        throwIfFailed(m_sink->end());
    }
    for (std::size_t i = 0; i < active.size(); ++i) {
        active[i]->advance(chosen[i], m_model.plan().endTokens);
        if (chosen[i] >= 0)
            generated(*active[i], chosen[i]);
    }
    return logits;
}

/// The taps of the options, once these fit what the model was loaded with.
Result<TapPlan> chosenTaps(const Model& model, const RunOptions& options)
{
    const auto fits = isLoadedFor(model, options);
    if (!fits)
        return fits.error();
    if (!*fits)
        return Error{Errc::Invalid,
                     "the model was loaded for policy " + model.policy().name() + " and arithmetic "
                         + model.arithmetic(),
                     model.plan().name, "Load it again with the options of the run"};
    return TapPlan::of(model.plan(), model.policy(), model.parallel()).select(options.tapPatterns);
}

trace::SampleIndex beginSample(trace::RunSink& sink, const Prompt& prompt,
                               const Tokenizer* tokenizer)
{
    const std::span<const std::int32_t> ids(prompt.ids);
    const auto sample = valueOrThrow(sink.beginSample(
        prompt.sample, tokensOf(tokenizer, ids.first(prompt.promptLength), false)));
    if (prompt.promptLength < ids.size())
        throwIfFailed(
            sink.addTokens(sample, tokensOf(tokenizer, ids.subspan(prompt.promptLength), true)));
    return sample;
}

/// What a run needs all along.
struct Running
{
    const Model& model;
    const Checkpoint& checkpoint;
    const RunOptions& options;
    const TapPlan& taps;
    Recorder& recorder;
    trace::RunSink& sink;
};

/// Waits until every sample of the batch has the tokens of its next pass: all go on together, as
/// they would if the responses had been there from the start. False when `stop` came first.
bool awaitTokens(const Running& run, Batch& batch, const std::stop_token& stop)
{
    const Tokenizer* tokenizer = run.checkpoint.tokenizer.get();
    for (Lane& lane : batch.lanes())
        while (!lane.ready()) {
            const auto taken = run.options.feed->take(lane.sample(), stop);
            if (!taken)
                return false;
            lane.take(taken->ids, taken->ended);
            if (!taken->ids.empty())
                throwIfFailed(
                    run.sink.addTokens(lane.sample(), tokensOf(tokenizer, taken->ids, true)));
        }
    return true;
}

Result<void> runBatch(const Running& run, std::span<const Prompt> prompts, std::stop_token stop,
                      base::Progress& progress)
{
    const Tokenizer* tokenizer = run.checkpoint.tokenizer.get();
    Batch batch(run.model, run.taps, run.options, &run.recorder);
    for (const Prompt& prompt : prompts) {
        const auto sample = beginSample(run.sink, prompt, tokenizer);
        run.recorder.askFor(sample, prompt.askedIds);
        batch.add(prompt, sample);
    }
    const auto cancelled = [&]() -> Error {
        for (const Lane& lane : batch.lanes())
            throwIfFailed(run.sink.endSample(lane.sample(), "cancelled", {}));
        return {Errc::Cancelled, "the run was cancelled", {}, {}};
    };
    std::map<trace::SampleIndex, std::string> written;
    while (!batch.done()) {
        if (!awaitTokens(run, batch, stop))
            return cancelled();
        if (batch.done())
            break;
        const at::Tensor logits = batch.pass([&](const Lane& lane, std::int32_t id) {
            const auto tokens = tokensOf(tokenizer, std::span(&id, 1), true);
            written[lane.sample()] += tokens.front().bytes;
            throwIfFailed(run.sink.addTokens(lane.sample(), tokens));
        });
        progress.done += static_cast<std::uint64_t>(logits.size(0));
        if (stop.stop_requested() && !batch.done())
            return cancelled();
    }
    for (std::size_t i = 0; i < prompts.size(); ++i) {
        const Lane& lane = batch.lanes()[i];
        const std::string letter = prompts[i].scoring == Prompt::Scoring::Text
                                       ? letterInText(written[lane.sample()], prompts[i].letters)
                                       : batch.letters()[i];
        throwIfFailed(run.sink.endSample(lane.sample(), lane.stopReason(), letter));
    }
    return {};
}

/// Logits of one prompt's every pass, on the host; with all taps given to `sink`, or without any.
at::Tensor logitsOf(const Model& model, const TapPlan& taps, const Prompt& prompt,
                    const RunOptions& options, TapSink* sink)
{
    Batch batch(model, taps, options, sink);
    batch.add(prompt, trace::SampleIndex{0});
    std::vector<at::Tensor> parts;
    while (!batch.done())
        parts.push_back(batch.pass([](const Lane&, std::int32_t) {}).to(at::kCPU));
    return at::cat(parts, 0).contiguous();
}

std::string firstDifference(const at::Tensor& with, const at::Tensor& without)
{
    if (with.sizes() != without.sizes())
        return "differs: another number of rows with taps than without";
    const auto* a = static_cast<const std::byte*>(with.data_ptr());
    const auto* b = static_cast<const std::byte*>(without.data_ptr());
    const auto [place, other] = std::mismatch(a, a + with.nbytes(), b);
    if (place == a + with.nbytes())
        return "bitwise equal";
    const auto element = static_cast<std::size_t>(place - a) / with.element_size();
    const auto width = static_cast<std::size_t>(with.size(1));
    return "differs: taps change the logits, first at row " + std::to_string(element / width)
           + ", element " + std::to_string(element % width);
}

} // namespace

Result<std::shared_ptr<const Model>> loadModel(const Checkpoint& checkpoint,
                                               const RunOptions& options)
{
    return Model::load(checkpoint, options);
}

Result<bool> isLoadedFor(const Model& model, const RunOptions& options)
{
    const auto policy = Policy::of(options, model.plan());
    if (!policy)
        return policy.error();
    const auto parallel = ParallelPlan::of(options);
    if (!parallel)
        return parallel.error();
    const auto kPlan = KPlan::parse(options.kPlan);
    if (!kPlan)
        return kPlan.error();
    const auto device = DeviceChoice::parse(options.device);
    if (!device)
        return device.error();
    const bool sameOrder = !model.plan().moe || model.plan().moe->order == options.expertOrder;
    return *policy == model.policy() && options.arithmetic == model.arithmetic()
           && options.attention == model.attention() && *kPlan == model.kPlan()
           && *parallel == model.parallel() && sameOrder
           && model.device() == Model::placeOf(*device);
}

Result<void> runModel(const Model& model, const Checkpoint& checkpoint, const RunOptions& options,
                      const RunPlan& plan, std::span<const Prompt> prompts, trace::RunSink& sink,
                      std::stop_token stop, base::Progress& progress)
{
    const auto taps = chosenTaps(model, options);
    if (!taps)
        return taps.error();
    if (options.liveTokens && !options.feed)
        return Error{Errc::Internal, "nothing brings the tokens that should arrive", {}, {}};
    return atEdge([&]() -> Result<void> {
        const c10::NoGradGuard noGradients;
        const auto begin = std::chrono::steady_clock::now();
        model.operations().useThreads(options.threads);
        Recorder recorder(plan.header, sink, options.threads);
        const Running run{model, checkpoint, options, *taps, recorder, sink};
        progress.total = plan.rows;
        trace::Environment closing;
        if (options.observerCheck && !prompts.empty())
            closing.set(env::observerCheck, valueOrThrow(checkObserver(model, checkpoint, options,
                                                                       plan, prompts.front())));
        for (std::size_t next = 0; next < prompts.size(); next += options.batch) {
            const std::size_t count = std::min<std::size_t>(options.batch, prompts.size() - next);
            if (auto ran = runBatch(run, prompts.subspan(next, count), stop, progress); !ran)
                return ran;
            if (stop.stop_requested() && next + count < prompts.size())
                return Error{Errc::Cancelled, "the run was cancelled", {}, {}};
        }
        const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;
        closing.set(env::endTime, timeText());
        closing.set(env::wallSeconds, wall.count());
        closing.set(env::peakBytes, peakBytes());
        return sink.finish(closing);
    });
}

Result<std::string> checkObserver(const Model& model, const Checkpoint& /*checkpoint*/,
                                  const RunOptions& options, const RunPlan& plan,
                                  const Prompt& prompt)
{
    const auto taps = chosenTaps(model, options);
    if (!taps)
        return taps.error();
    return atEdge([&]() -> Result<std::string> {
        const c10::NoGradGuard noGradients;
        model.operations().useThreads(options.threads);
        trace::RunBuilder scratch(plan.header, "observer check");
        throwIfFailed([&]() -> Result<void> {
            const auto begun = scratch.beginSample(prompt.sample, {});
            return begun ? Result<void>() : begun.error();
        }());
        Recorder recorder(plan.header, scratch, options.threads);
        const at::Tensor with = logitsOf(model, *taps, prompt, options, &recorder);
        const at::Tensor without = logitsOf(model, *taps, prompt, options, nullptr);
        return firstDifference(with, without);
    });
}

} // namespace moire::capture
