// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "widgets/models/site_link.h"

#include "core/diff/inspect.h"
#include "core/diff/sample_name.h"
#include "core/diff/tap_spelling.h"

#include <QUrl>
#include <QUrlQuery>

#include <algorithm>

namespace moire::widgets {

namespace {

std::optional<std::size_t> findTapPair(const Compared& compared, const QString& name)
{
    const std::string wanted = name.toStdString();
    const auto& taps = compared.report.taps;
    const auto whole = diff::spelledOut(wanted, [&taps](const std::string& known) {
        return std::any_of(taps.begin(), taps.end(),
                           [&known](const diff::TapReport& tap) { return tap.name == known; });
    });
    const auto found = std::find_if(taps.begin(), taps.end(), [&](const diff::TapReport& tap) {
        return whole ? tap.name == *whole : tap.name.ends_with(wanted);
    });
    return found == taps.end() ? std::nullopt
                               : std::optional(static_cast<std::size_t>(found - taps.begin()));
}

/// A place that does not exist, and one that does.
Error noSuch(const Compared& compared, const QString& what, const QString& text,
             const QString& instead)
{
    QString hint = instead;
    const QString example = siteText(compared, Place{});
    if (!example.isEmpty())
        hint += QStringLiteral("name a place as sample/position/tap, such as %1").arg(example);
    return {Errc::NotFound,
            QStringLiteral("the comparison has no %1 '%2'").arg(what, text).toStdString(),
            {},
            hint.toStdString()};
}

Error noSample(const Compared& compared, const QString& text)
{
    constexpr std::size_t most = 6;
    QStringList names;
    for (std::size_t i = 0; i < std::min(most, compared.samples.size()); ++i)
        names.append(compared.samples[i].id);
    if (compared.samples.size() > most)
        names.append(QStringLiteral("…"));
    return noSuch(compared, QStringLiteral("sample"), text,
                  QStringLiteral("its samples are %1; ").arg(names.join(QStringLiteral(", "))));
}

Error noPosition(const Compared& compared, std::size_t sample, const QString& text)
{
    if (sample >= compared.samples.size() || compared.samples[sample].columns() == 0)
        return noSuch(compared, QStringLiteral("position"), text, {});
    const SampleEntry& entry = compared.samples[sample];
    return noSuch(
        compared, QStringLiteral("position"), text,
        QStringLiteral("sample %1 has positions 0 to %2; ").arg(entry.id).arg(entry.columns() - 1));
}

} // namespace

QString siteText(const Compared& compared, const Place& place)
{
    if (place.sample >= compared.samples.size() || place.tap >= compared.report.taps.size())
        return {};
    diff::SiteName name;
    name.sample = diff::sampleName(*compared.reference, compared.samples[place.sample].reference);
    name.position = static_cast<std::uint32_t>(place.column);
    name.tap = compared.report.taps[place.tap].name;
    return QString::fromStdString(diff::textOf(name));
}

Result<Place> findPlace(const Compared& compared, const QString& text, const Place& from)
{
    const QString trimmed = text.trimmed();
    bool isNumber = false;
    const uint position = trimmed.toUInt(&isNumber);
    if (isNumber) {
        if (from.sample >= compared.samples.size()
            || position >= compared.samples[from.sample].columns())
            return noPosition(compared, from.sample, trimmed);
        return Place{from.sample, position, from.tap};
    }
    if (!trimmed.contains('/')) {
        const auto tap = findTapPair(compared, trimmed);
        if (trimmed.isEmpty() || !tap)
            return noSuch(compared, QStringLiteral("tap"), trimmed, {});
        return Place{from.sample, from.column, *tap};
    }
    const auto site = diff::parseSite(trimmed.toStdString());
    if (!site)
        return site.error();
    const auto named = diff::findSampleNamed(*compared.reference, site->sample);
    for (std::size_t sample = 0; sample < compared.samples.size(); ++sample) {
        if (compared.samples[sample].reference != named)
            continue;
        if (site->position >= compared.samples[sample].columns())
            return noPosition(compared, sample, QString::number(site->position));
        const auto tap = findTapPair(compared, QString::fromStdString(site->tap));
        if (!tap)
            return noSuch(compared, QStringLiteral("tap"), QString::fromStdString(site->tap), {});
        return Place{sample, site->position, *tap};
    }
    return noSample(compared, QString::fromStdString(site->sample));
}

QString textOf(const SiteLink& link)
{
    QUrl url;
    url.setScheme(QStringLiteral("moire"));
    url.setHost(QStringLiteral("compare"));
    QUrlQuery query;
    query.addQueryItem(QStringLiteral("reference"),
                       QString::fromUtf8(QUrl::toPercentEncoding(link.paths.reference, "/")));
    query.addQueryItem(QStringLiteral("target"),
                       QString::fromUtf8(QUrl::toPercentEncoding(link.paths.target, "/")));
    query.addQueryItem(QStringLiteral("site"),
                       QString::fromUtf8(QUrl::toPercentEncoding(link.site, "/")));
    url.setQuery(query);
    return url.toString(QUrl::FullyEncoded);
}

Result<SiteLink> parseLink(const QString& text)
{
    const QUrl url(text.trimmed(), QUrl::StrictMode);
    const QUrlQuery query(url);
    SiteLink link;
    const auto item = [&query](const QString& key) {
        return query.queryItemValue(key, QUrl::FullyDecoded);
    };
    link.paths = {item(QStringLiteral("reference")), item(QStringLiteral("target"))};
    link.site = item(QStringLiteral("site"));
    if (url.scheme() != QLatin1String("moire") || url.host() != QLatin1String("compare")
        || link.paths.reference.isEmpty() || link.paths.target.isEmpty())
        return Error{Errc::Invalid,
                     "this is not a moire:// link to a comparison",
                     {},
                     "copy the whole link from the verdict line of Moire"};
    return link;
}

} // namespace moire::widgets
