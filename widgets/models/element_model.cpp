// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "widgets/models/element_model.h"

#include "core/report/number.h"
#include "widgets/models/measure.h"

namespace moire::widgets {

void ElementModel::setElements(std::vector<diff::ElementPair> elements,
                               numeric::DType referenceType, numeric::DType targetType)
{
    beginResetModel();
    m_elements = std::move(elements);
    m_referenceType = referenceType;
    m_targetType = targetType;
    endResetModel();
}

int ElementModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_elements.size());
}

int ElementModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : ColumnCount;
}

QVariant ElementModel::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid))
        return {};
    if (role == Qt::TextAlignmentRole)
        return QVariant::fromValue(Qt::AlignRight | Qt::AlignVCenter);
    const diff::ElementPair& element = m_elements[static_cast<std::size_t>(index.row())];
    if (role == Qt::ToolTipRole)
        return QStringLiteral("element %1\nreference %2\ntarget %3")
            .arg(QString::number(element.element),
                 QString::fromStdString(report::bitsText(element.referenceBits, m_referenceType)),
                 element.chosen
                     ? QString::fromStdString(report::bitsText(element.targetBits, m_targetType))
                     : QStringLiteral("did not choose that expert"));
    if (role != Qt::DisplayRole)
        return {};
    switch (index.column()) {
    case Element:
        return QString::number(element.element);
    case Reference:
        return elementText(element.referenceBits, m_referenceType);
    case Target:
        return element.chosen ? elementText(element.targetBits, m_targetType)
                              : QStringLiteral("not chosen");
    case Ulps:
        return signedUlps(element);
    default:
        return {};
    }
}

QVariant ElementModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole)
        return {};
    switch (section) {
    case Element:
        return QStringLiteral("element");
    case Reference:
        return QStringLiteral("reference");
    case Target:
        return QStringLiteral("target");
    case Ulps:
        return QStringLiteral("ulp");
    default:
        return {};
    }
}

QString elementText(std::uint64_t bits, numeric::DType dtype)
{
    constexpr qsizetype longest = 12;
    constexpr int digits = 7;
    QString text = QString::fromStdString(report::elementText(bits, dtype));
    const bool exact = text.size() <= longest || !numeric::isFloat(dtype);
    return exact ? text : textOfNumber(numeric::toDouble(bits, dtype), digits);
}

QString signedUlps(const diff::ElementPair& element)
{
    if (!element.ulps)
        return QStringLiteral("–");
    if (*element.ulps == 0)
        return QStringLiteral("0");
    const bool up = element.difference > 0; // exact, which the values of int64 are not
    // Beyond seven digits the distance says "far" only; the tooltip has the bits.
    constexpr std::uint64_t longest = 9'999'999;
    constexpr int digits = 3;
    const QString size = *element.ulps <= longest
                             ? QString::number(*element.ulps)
                             : textOfNumber(static_cast<double>(*element.ulps), digits);
    return (up ? QStringLiteral("+") : QStringLiteral("−")) + size;
}

} // namespace moire::widgets
