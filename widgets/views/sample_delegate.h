// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "widgets/models/compared.h"
#include "widgets/plot/look.h"

#include <QStyledItemDelegate>

namespace moire::widgets {

/// Paints one sample of the list: id, measure, summary, curve.
class SampleDelegate : public QStyledItemDelegate
{
    Q_OBJECT
public:
    explicit SampleDelegate(const Look& look, QObject* parent = nullptr)
        : QStyledItemDelegate(parent)
        , m_look(look)
    {}
    void setCompared(ComparedPointer compared) { m_compared = std::move(compared); }

    void paint(QPainter* painter, const QStyleOptionViewItem& option,
               const QModelIndex& index) const override;
    QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;

private:
    void paintCurve(QPainter& painter, const QRect& rect, const SampleEntry& sample) const;

    const Look& m_look;
    ComparedPointer m_compared;
};

} // namespace moire::widgets
