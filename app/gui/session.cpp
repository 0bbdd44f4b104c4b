// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/gui/session.h"

#include <QFileInfo>
#include <QSettings>

namespace moire::gui {

namespace {

const QString geometryKey = QStringLiteral("geometry");
const QString layoutKey = QStringLiteral("layout");
const QString overviewKey = QStringLiteral("overview");
const QString referenceKey = QStringLiteral("session/reference");
const QString targetKey = QStringLiteral("session/target");
const QString siteKey = QStringLiteral("session/site");

QString absolute(const QString& path)
{
    return path.isEmpty() ? path : QFileInfo(path).absoluteFilePath();
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
}

bool Session::canResume() const
{
    return QFileInfo(paths.reference).isFile() && QFileInfo(paths.target).isFile();
}

} // namespace moire::gui
