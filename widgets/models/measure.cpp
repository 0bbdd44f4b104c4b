// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "widgets/models/measure.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace moire::widgets {

namespace {

constexpr float infinite = std::numeric_limits<float>::infinity();

float positive(double size)
{
    return size > 0 ? std::max(static_cast<float>(size), cell::least) : cell::least;
}

double sizeOf(const diff::Site& site, HeatMeasure measure)
{
    switch (measure) {
    case HeatMeasure::RelativeL2:
        return site.relativeL2();
    case HeatMeasure::MaxUlp:
        return static_cast<double>(site.maxUlp);
    case HeatMeasure::MaxAbs:
        return site.maxAbs;
    case HeatMeasure::UnequalShare:
        return site.elements == 0
                   ? 0.0
                   : static_cast<double>(site.unequal) / static_cast<double>(site.elements);
    case HeatMeasure::Kl:
        break;
    }
    return 0.0;
}

} // namespace

QString nameOf(HeatMeasure measure)
{
    switch (measure) {
    case HeatMeasure::RelativeL2:
        return QStringLiteral("relative L2");
    case HeatMeasure::MaxUlp:
        return QStringLiteral("max ulp");
    case HeatMeasure::MaxAbs:
        return QStringLiteral("max |Δ|");
    case HeatMeasure::UnequalShare:
        return QStringLiteral("unequal share");
    case HeatMeasure::Kl:
        return QStringLiteral("KL of the logits");
    }
    return {};
}

float cellOf(const diff::Site& site, HeatMeasure measure)
{
    switch (site.state) {
    case diff::Site::State::NotRecorded:
        return cell::notRecorded;
    case diff::Site::State::Equal:
        return cell::equal;
    case diff::Site::State::Different:
        break;
    }
    if (!site.valuesCompared)
        return cell::unsized;
    // NaN or infinity on one side; zero against a small number has a size like any other.
    const bool finite = site.finite == site.elements;
    if (site.classChanges > 0 && !finite && measure != HeatMeasure::UnequalShare)
        return infinite;
    if (site.finite == 0 && measure != HeatMeasure::UnequalShare)
        return cell::notFinite;
    return positive(sizeOf(site, measure));
}

float klCellOf(const diff::LogitsRow& row, const diff::Site* head)
{
    if (row.compared && row.forwardKl > 0)
        return positive(row.forwardKl);
    if (head != nullptr && head->state == diff::Site::State::Equal)
        return cell::equal;
    if (row.compared)
        return cell::least;
    return head != nullptr && head->state == diff::Site::State::Different ? cell::unsized
                                                                          : cell::notRecorded;
}

QString textOfCell(float value, HeatMeasure measure)
{
    if (value == cell::notComparable)
        return QStringLiteral("not comparable");
    if (value == cell::notRecorded)
        return QStringLiteral("not recorded");
    if (value == cell::equal)
        return QStringLiteral("equal bits");
    if (value == cell::unsized)
        return QStringLiteral("bits differ, values not recorded");
    if (value == cell::notFinite)
        return QStringLiteral("bits differ, nothing finite");
    if (value == cell::least)
        return QStringLiteral("differs");
    if (measure == HeatMeasure::MaxUlp && std::isfinite(value))
        return textOfNumber(static_cast<double>(value), 6) + QStringLiteral(" ulp");
    if (measure == HeatMeasure::UnequalShare)
        return percentText(static_cast<double>(value) * 100.0);
    if (measure == HeatMeasure::Kl)
        return textOfNumber(static_cast<double>(value)) + QStringLiteral(" nats");
    return textOfNumber(static_cast<double>(value));
}

QString textOfNumber(std::optional<double> value, int digits)
{
    if (!value)
        return QStringLiteral("–");
    if (std::isnan(*value))
        return QStringLiteral("NaN");
    if (std::isinf(*value))
        return *value > 0 ? QStringLiteral("∞") : QStringLiteral("−∞");
    QString text = QString::number(*value, 'g', digits);
    // 'g' writes exponents with two digits at least; one is easier to read.
    text.replace(QLatin1String("e-0"), QLatin1String("e-"));
    text.replace(QLatin1String("e+0"), QLatin1String("e+"));
    if (text.startsWith(QLatin1Char('-')))
        text.replace(0, 1, QStringLiteral("−"));
    return text;
}

QString percentText(double percent)
{
    constexpr double tenth = 0.1;
    if (percent < 100 && percent > 100 - tenth)
        return QStringLiteral("> 99.9 %");
    if (percent > 0 && percent < tenth)
        return QStringLiteral("< 0.1 %");
    return QString::number(percent, 'f', percent == 100 || percent == 0 ? 0 : 1)
           + QStringLiteral(" %");
}

} // namespace moire::widgets
