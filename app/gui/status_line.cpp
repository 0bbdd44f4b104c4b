// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/gui/status_line.h"

#include "core/report/number.h"

#include <QLocale>
#include <QStringList>

namespace moire::gui {

namespace {

const QString separator = QStringLiteral("      ");

QString counted(std::uint64_t count)
{
    return QString::fromStdString(report::grouped(count));
}

} // namespace

QString workDone(const widgets::Compared& compared)
{
    const diff::AlignmentSummary& alignment = compared.report.alignment;
    constexpr double gigabyte = 1e9;
    QStringList parts{QStringLiteral("Compared %1 rows × %2 taps")
                          .arg(counted(alignment.rows), counted(alignment.taps))};
    parts.append(QStringLiteral("%1 s").arg(compared.seconds, 0, 'f', 2));
    // The speed of small files says nothing: opening them takes longer than comparing.
    if (static_cast<double>(compared.bytes) > gigabyte / 10 && compared.seconds > 0)
        parts.append(QStringLiteral("%1 GB/s").arg(
            static_cast<double>(compared.bytes) / gigabyte / compared.seconds, 0, 'f', 2));
    return parts.join(separator);
}

QString workLeft(const widgets::Compared& compared)
{
    const diff::AlignmentSummary& alignment = compared.report.alignment;
    QStringList parts;
    const auto apart = alignment.rowsNotComparableReference + alignment.rowsNotComparableTarget;
    if (apart > 0)
        parts.append(QStringLiteral("%1 rows not comparable").arg(counted(apart)));
    if (alignment.incompleteReference)
        parts.append(QStringLiteral("reference incomplete"));
    if (alignment.incompleteTarget)
        parts.append(QStringLiteral("target incomplete"));
    parts.append(compared.gaps == 0 ? QStringLiteral("gaps: none")
                                    : QStringLiteral("gaps: %1").arg(counted(compared.gaps)));
    return parts.join(separator);
}

QString liveWork(const widgets::LiveSession& session, const live::SideStatus& reference,
                 const live::SideStatus& target)
{
    const auto size = [](double bytes) {
        return QLocale::c().formattedDataSize(static_cast<qint64>(bytes), 1,
                                              QLocale::DataSizeSIFormat);
    };
    QStringList parts{QStringLiteral("%1 rows compared").arg(counted(session.rowsCompared()))};
    if (!session.isOver()) {
        parts.append(
            QStringLiteral("%1/s").arg(size(reference.bytesPerSecond + target.bytesPerSecond)));
        const auto waiting = reference.count.waiting + target.count.waiting;
        parts.append(QStringLiteral("queue %1").arg(size(static_cast<double>(waiting))));
    }
    parts.append(QStringLiteral("%1 s").arg(session.seconds(), 0, 'f', 1));
    return parts.join(separator);
}

QString liveLosses(const live::SideStatus& reference, const live::SideStatus& target)
{
    const auto lost = reference.lostRows + target.lostRows;
    return lost == 0 ? QStringLiteral("gaps: none")
                     : QStringLiteral("gaps: %1 rows").arg(counted(lost));
}

} // namespace moire::gui
