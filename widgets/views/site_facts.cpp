// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/report/number.h"
#include "widgets/models/measure.h"
#include "widgets/views/inspector.h"

namespace moire::widgets {

namespace {

using Fact = FactTable::Fact;

QString equalText(const diff::Site& site)
{
    const double share =
        site.elements == 0
            ? 0.0
            : 100.0
                  * (1.0 - static_cast<double>(site.unequal) / static_cast<double>(site.elements));
    return QStringLiteral("%1 of %2 · %3")
        .arg(QString::fromStdString(report::grouped(site.elements - site.unequal)),
             QString::fromStdString(report::grouped(site.elements)), percentText(share));
}

QString originText(diff::Origin origin)
{
    switch (origin) {
    case diff::Origin::Introduced:
        return QStringLiteral("introduced here");
    case diff::Origin::Carried:
        return QStringLiteral("carried along");
    case diff::Origin::Unknown:
        break;
    }
    return QStringLiteral("unknown: inputs not recorded");
}

} // namespace

std::vector<Fact> siteFacts(const diff::Site& site, const diff::SiteDetail* detail, bool measured)
{
    std::vector<Fact> facts;
    const auto number = [&facts](const QString& label, const QString& value) {
        facts.push_back({label, value, {}, false, false, false, false});
    };
    const auto words = [&facts](const QString& label, const QString& value, bool strong) {
        facts.push_back({label, value, {}, false, strong, true, false});
    };
    const bool equal = site.state == diff::Site::State::Equal;
    if (site.valuesCompared) {
        number(QStringLiteral("bits equal"), equalText(site));
        const bool sameType = detail == nullptr || detail->referenceType == detail->targetType;
        number(QStringLiteral("max ulp"), sameType && site.finite > 0
                                              ? QString::fromStdString(report::grouped(site.maxUlp))
                                              : QStringLiteral("–"));
        if (site.finite == 0) {
            words(QStringLiteral("size"), QStringLiteral("none: nothing finite in both"), false);
        } else {
            number(QStringLiteral("max |Δ|"), textOfNumber(site.maxAbs, 6));
            number(QStringLiteral("relative L2"), textOfNumber(site.relativeL2(), 4));
            number(QStringLiteral("1 − cosine"), textOfNumber(site.oneMinusCosine(), 4));
        }
        if (site.classChanges > 0)
            number(QStringLiteral("class changes"),
                   QString::fromStdString(report::grouped(site.classChanges)));
    } else {
        words(QStringLiteral("digests"),
              equal ? QStringLiteral("equal: so are all bits") : QStringLiteral("differ"), true);
        if (measured) {
            words(QStringLiteral("values"), QStringLiteral("not recorded in both runs"), false);
            words(QStringLiteral("for more"), QStringLiteral("capture with --level full"), false);
        } else {
            words(QStringLiteral("measures"), QStringLiteral("on their way"), false);
        }
    }
    if (equal)
        return facts;
    if (detail != nullptr) {
        words(QStringLiteral("origin"), originText(detail->origin), true);
        number(QStringLiteral("amplification"),
               detail->amplification ? textOfNumber(detail->amplification, 3) + QStringLiteral("×")
                                     : QStringLiteral("–"));
    }
    return facts;
}

std::vector<Fact> routeFacts(const diff::RoutingDetail& detail)
{
    if (detail.cell.chosen == 0)
        return {};
    std::vector<Fact> facts;
    facts.push_back({QStringLiteral("experts"),
                     detail.cell.replaced == 0
                         ? QStringLiteral("the same %1").arg(detail.cell.chosen)
                         : QStringLiteral("%1 of %2 replaced")
                               .arg(detail.cell.replaced)
                               .arg(detail.cell.chosen),
                     {},
                     false,
                     true,
                     true,
                     false});
    QStringList lost;
    QStringList won;
    for (const diff::ExpertPair& expert : detail.experts) {
        if (expert.referenceSlot >= 0 && expert.targetSlot < 0)
            lost.append(QString::number(expert.expert));
        if (expert.targetSlot >= 0 && expert.referenceSlot < 0)
            won.append(QString::number(expert.expert));
    }
    if (!lost.isEmpty() || !won.isEmpty())
        facts.push_back({QStringLiteral("alone in"), lost.join(QStringLiteral(", ")),
                         won.join(QStringLiteral(", ")), true, true, false, false});
    facts.push_back({QStringLiteral("margin"),
                     textOfNumber(static_cast<double>(detail.cell.referenceMargin), 4),
                     textOfNumber(static_cast<double>(detail.cell.targetMargin), 4), true, false,
                     false, false});
    const bool tie = detail.cell.referenceMargin == 0 || detail.cell.targetMargin == 0;
    if (tie)
        facts.push_back({QStringLiteral("tie"),
                         QStringLiteral("chosen from equal router logits"),
                         {},
                         false,
                         true,
                         true,
                         false});
    return facts;
}

std::vector<Fact> elementFacts(const diff::SiteDetail& detail)
{
    if (detail.worst.empty())
        return {};
    const diff::ElementPair& worst = detail.worst.front();
    const auto text = [](const std::string& s) { return QString::fromStdString(s); };
    std::vector<Fact> facts;
    facts.push_back({QStringLiteral("element %1").arg(worst.element),
                     elementText(worst.referenceBits, detail.referenceType),
                     worst.chosen ? elementText(worst.targetBits, detail.targetType)
                                  : QStringLiteral("not chosen"),
                     true, true, false, false});
    const QString targetBits =
        worst.chosen ? text(report::bitsText(worst.targetBits, detail.targetType)) : QString();
    facts.push_back({QStringLiteral("bits"),
                     text(report::bitsText(worst.referenceBits, detail.referenceType)), targetBits,
                     true, false, false, false});
    if (!worst.chosen)
        return facts;
    const QString type = text(std::string(numeric::nameOf(detail.referenceType)));
    const QString otherType = text(std::string(numeric::nameOf(detail.targetType)));
    if (type != otherType)
        facts.push_back({QStringLiteral("type"), type, otherType, true, false, false, false});
    facts.push_back(
        {QStringLiteral("%1: sign, exponent, mantissa%2")
             .arg(type == otherType ? type : QStringLiteral("bits"),
                  worst.ulps ? QStringLiteral(" · %1 ulp").arg(signedUlps(worst)) : QString()),
         text(report::fieldsText(worst.referenceBits, detail.referenceType)),
         text(report::fieldsText(worst.targetBits, detail.targetType)), true, false, false, true});
    return facts;
}

} // namespace moire::widgets
