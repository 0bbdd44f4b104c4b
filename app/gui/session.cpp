// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/gui/session.h"

#include "core/diff/shipped_profiles.h"

#include <QFileInfo>
#include <QSettings>

#include <algorithm>

namespace moire::gui {

namespace {

const QString geometryKey = QStringLiteral("geometry");
const QString layoutKey = QStringLiteral("layout");
const QString overviewKey = QStringLiteral("overview");
const QString referenceKey = QStringLiteral("session/reference");
const QString targetKey = QStringLiteral("session/target");
const QString siteKey = QStringLiteral("session/site");
const QString toleranceKey = QStringLiteral("session/tolerance");

QString absolute(const QString& path)
{
    return path.isEmpty() ? path : QFileInfo(path).absoluteFilePath();
}

bool isShipped(const QString& tolerance)
{
    const auto shipped = diff::shippedProfiles();
    const std::string name = tolerance.toStdString();
    return std::any_of(
        shipped.begin(), shipped.end(),
        [&name](const diff::ShippedProfile& profile) { return profile.name == name; });
}

} // namespace

Session Session::load()
{
    const QSettings settings;
    Session session;
    session.geometry = settings.value(geometryKey).toByteArray();
    session.layout = settings.value(layoutKey).toMap();
    session.overview = settings.value(overviewKey, true).toBool();
    session.paths = {settings.value(referenceKey).toString(), settings.value(targetKey).toString()};
    session.site = settings.value(siteKey).toString();
    session.tolerance = settings.value(toleranceKey).toString();
    if (!isShipped(session.tolerance) && !QFileInfo(session.tolerance).isFile())
        session.tolerance.clear();
    return session;
}

void Session::save() const
{
    QSettings settings;
    settings.setValue(geometryKey, geometry);
    settings.setValue(layoutKey, layout);
    settings.setValue(overviewKey, overview);
    settings.setValue(referenceKey, absolute(paths.reference));
    settings.setValue(targetKey, absolute(paths.target));
    settings.setValue(siteKey, site);
    settings.setValue(toleranceKey, isShipped(tolerance) ? tolerance : absolute(tolerance));
}

bool Session::canResume() const
{
    return QFileInfo(paths.reference).isFile() && QFileInfo(paths.target).isFile();
}

} // namespace moire::gui
