// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "core/diff/inspect.h"

#include <QAbstractTableModel>

namespace moire::widgets {

/// The worst elements of one site: element, both values, ulps.
class ElementModel : public QAbstractTableModel
{
    Q_OBJECT
public:
    enum Column
    {
        Element,
        Reference,
        Target,
        Ulps,
        ColumnCount
    };

    explicit ElementModel(QObject* parent = nullptr)
        : QAbstractTableModel(parent)
    {}
    void setElements(std::vector<diff::ElementPair> elements, numeric::DType referenceType,
                     numeric::DType targetType);

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    std::vector<diff::ElementPair> m_elements;
    numeric::DType m_referenceType = numeric::DType::FP32;
    numeric::DType m_targetType = numeric::DType::FP32;
};

/// A value exactly, or with seven digits where that would be long; integers always exactly.
QString elementText(std::uint64_t bits, numeric::DType dtype);
/// Ulps with the sign of target − reference: "+1", "−3", "–" where there is no distance.
QString signedUlps(const diff::ElementPair& element);

} // namespace moire::widgets
