// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "widgets/models/compared.h"
#include "widgets/models/live_session.h"

#include <QString>

namespace moire::gui {

/// What was compared and how fast: the left end of the status bar.
QString workDone(const widgets::Compared& compared);
/// What was left out: rows behind splits, incomplete files, gaps.
QString workLeft(const widgets::Compared& compared);

/// The same of a live comparison: rows compared, throughput, memory and what waits; gaps.
QString liveWork(const widgets::LiveSession& session, const live::SideStatus& reference,
                 const live::SideStatus& target);
QString liveLosses(const live::SideStatus& reference, const live::SideStatus& target);

} // namespace moire::gui
