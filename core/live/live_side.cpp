// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: Apache-2.0

#include "core/live/live_side.h"

#include "core/live/capture_store.h"
#include "core/live/side_worker.h"

#include <utility>

namespace moire::live {

LiveSide::LiveSide(SideOptions options, Changed changed)
    : m_state(std::make_unique<SideWorker>(std::move(options), std::move(changed)))
{}

LiveSide::~LiveSide()
{
    stop();
}

void LiveSide::stop()
{
    m_state->thread = {};
    if (const auto live = m_state->liveRun())
        live->stop();
}

void LiveSide::setPrepare(Prepare prepare)
{
    m_state->prepare = std::move(prepare);
}

void LiveSide::onTokens(std::function<void(const wire::LiveRun::NewTokens&)> told)
{
    m_state->tokensTold = std::move(told);
}

void LiveSide::start()
{
    m_state->thread =
        std::jthread([state = m_state.get()](const std::stop_token& stop) { state->work(stop); });
}

void LiveSide::cancel()
{
    {
        const std::scoped_lock lock(m_state->mutex);
        m_state->cancelWanted = true;
    }
    m_state->happened.notify_all();
}

void LiveSide::feed(const wire::LiveRun::NewTokens& tokens)
{
    m_state->sender.add(tokens);
    {
        const std::scoped_lock lock(m_state->mutex);
        m_state->grown = true;
    }
    m_state->happened.notify_all();
}

SideStatus LiveSide::status() const
{
    SideStatus status;
    const auto live = m_state->liveRun();
    if (live != nullptr) {
        status.count = live->count();
        status.rows = live->rows();
        status.lostRows = live->lostRows();
        if (const auto planned = live->planned())
            status.planned = planned->rows;
    }
    const std::scoped_lock lock(m_state->mutex);
    const SideWorker& state = *m_state;
    status.state = state.state;
    status.trouble = state.trouble;
    status.isFile = state.options.host == nullptr;
    status.run = state.run;
    status.place = state.heard.place;
    status.waited = state.heard.waited;
    status.rowsPerSecond = state.rate.rows();
    status.bytesPerSecond = state.rate.bytes();
    if (status.isFile) {
        status.source = state.options.file.string();
        status.rows = status.planned = state.file == nullptr ? 0 : state.file->rowCount();
        return status;
    }
    if (status.planned == 0)
        status.planned = state.heard.planned;
    status.source = state.options.host->address();
    status.link = state.options.host->link();
    if (status.trouble.sentence.empty() && status.link != wire::LinkState::Connected)
        status.trouble = state.options.host->trouble();
    return status;
}

Result<trace::RunPointer> LiveSide::snapshot()
{
    if (const auto live = m_state->liveRun())
        return live->snapshot();
    const std::scoped_lock lock(m_state->mutex);
    return m_state->file;
}

Result<void> LiveSide::save(const std::filesystem::path& path)
{
    const auto live = m_state->liveRun();
    if (live == nullptr)
        return Error{Errc::Invalid, "there is no run to save", path.string(),
                     "Wait until its first rows have come"};
    return live->withStore([&path](wire::LiveStore& store) {
        return static_cast<CaptureStore&>(store).saveAs(path); // the maker makes nothing else
    });
}

std::string LiveSide::waitForRun(const std::stop_token& stop)
{
    std::unique_lock lock(m_state->mutex);
    m_state->happened.wait(lock, stop,
                           [this] { return !m_state->run.empty() || isOver(m_state->state); });
    return m_state->run;
}

} // namespace moire::live
