// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "core/base/result.h"
#include "widgets/models/cursor.h"
#include "widgets/models/open_runs.h"

#include <QString>

namespace moire::widgets {

/// "sample/position/tap" of a place in the reference; "" when nothing is compared.
QString siteText(const Compared& compared, const Place& place);

/// The place that a person names: a SITE, or just a position, or a tap (whole or its end), both
/// within the sample of `from`. Errors: Invalid for what cannot be read, NotFound for what is not
/// there.
Result<Place> findPlace(const Compared& compared, const QString& text, const Place& from);

/// A place in two files as text that opens it again.
struct SiteLink
{
    RunPaths paths;
    QString site;
};
QString textOf(const SiteLink& link);
/// Error: Invalid when it is no moire:// link of ours.
Result<SiteLink> parseLink(const QString& text);

} // namespace moire::widgets
