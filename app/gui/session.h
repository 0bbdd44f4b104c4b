// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "widgets/models/open_runs.h"

#include <QByteArray>
#include <QString>
#include <QVariantMap>

namespace moire::gui {

/// What the window finds again when it is started the next time. Kept in the user's settings.
struct Session
{
    QByteArray geometry;
    QVariantMap layout; ///< of ComparisonView
    bool overview = true;
    widgets::RunPaths paths; ///< empty: nothing was open
    QString site;
    QString tolerance; ///< a shipped profile or a file

    static Session load();
    void save() const;
    /// Both files of the last time are still there.
    bool canResume() const;
};

} // namespace moire::gui
