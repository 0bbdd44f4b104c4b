// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "widgets/models/sample_model.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace moire::widgets {

namespace {

const diff::SampleReport& reportOf(const Compared& compared, std::size_t sample)
{
    return compared.report.samples[sample];
}

QString summaryOf(const SampleEntry& entry, const diff::SampleReport& report)
{
    if (entry.rowBegin == entry.rowEnd)
        return QStringLiteral("nothing to compare");
    if (report.split)
        return QStringLiteral("texts part at token %1").arg(*report.split);
    if (report.firstArgmax)
        return QStringLiteral("top-1 flips at position %1").arg(*report.firstArgmax);
    if (report.firstBitwise)
        return QStringLiteral("bits differ from position %1").arg(*report.firstBitwise);
    return QStringLiteral("bitwise equal");
}

/// The largest KL of the sample's logits rows.
QString measureOf(const Compared& compared, const SampleEntry& entry)
{
    float largest = cell::notRecorded;
    for (std::size_t row = entry.rowBegin; row < entry.rowEnd; ++row)
        if (row < compared.report.logits.size() && compared.report.logits[row].compared)
            largest = std::max(largest, static_cast<float>(compared.report.logits[row].forwardKl));
    if (largest < 0)
        return {};
    if (largest == 0)
        return QStringLiteral("max KL 0");
    QString number = QString::number(static_cast<double>(largest), 'e', 1);
    number.replace(QLatin1String("e-0"), QLatin1String("e-"));
    return QStringLiteral("max KL ") + number;
}

} // namespace

void SampleModel::setCompared(ComparedPointer compared)
{
    beginResetModel();
    m_compared = std::move(compared);
    sort();
    endResetModel();
}

void SampleModel::setOrder(Order order)
{
    if (order == m_order)
        return;
    beginResetModel();
    m_order = order;
    sort();
    endResetModel();
}

void SampleModel::sort()
{
    m_samples.resize(m_compared ? m_compared->samples.size() : 0);
    std::iota(m_samples.begin(), m_samples.end(), std::size_t{0});
    if (m_order == Order::AsRecorded)
        return;
    const auto key = [this](std::size_t sample) {
        const diff::SampleReport& report = reportOf(*m_compared, sample);
        const auto never = std::numeric_limits<std::uint32_t>::max();
        return std::tuple(report.split.value_or(never), report.firstArgmax.value_or(never),
                          report.firstBitwise.value_or(never));
    };
    std::stable_sort(m_samples.begin(), m_samples.end(),
                     [&key](std::size_t a, std::size_t b) { return key(a) < key(b); });
}

QModelIndex SampleModel::indexOfSample(std::size_t sample) const
{
    const auto found = std::find(m_samples.begin(), m_samples.end(), sample);
    return found == m_samples.end() ? QModelIndex()
                                    : index(static_cast<int>(found - m_samples.begin()));
}

int SampleModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_samples.size());
}

QVariant SampleModel::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid))
        return {};
    const std::size_t sample = m_samples[static_cast<std::size_t>(index.row())];
    const SampleEntry& entry = m_compared->samples[sample];
    switch (role) {
    case Qt::DisplayRole:
    case Qt::AccessibleTextRole:
        return entry.id;
    case Qt::ToolTipRole:
        return QStringLiteral("%1\n%2\n%3 rows compared")
            .arg(entry.id, summaryOf(entry, reportOf(*m_compared, sample)))
            .arg(entry.rowEnd - entry.rowBegin);
    case SampleRole:
        return QVariant::fromValue(static_cast<qulonglong>(sample));
    case SummaryRole:
        return summaryOf(entry, reportOf(*m_compared, sample));
    case MeasureRole:
        return measureOf(*m_compared, entry);
    case CategoryRole:
        return entry.category;
    default:
        return {};
    }
}

} // namespace moire::widgets
