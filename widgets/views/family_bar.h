// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "core/report/families.h"
#include "widgets/models/compared.h"
#include "widgets/plot/look.h"

#include <QWidget>

#include <vector>

namespace moire::widgets {

/// The five families and routing, always together, each with its interval or the reason why it has
/// no number.
class FamilyBar : public QWidget
{
    Q_OBJECT
public:
    explicit FamilyBar(const Look& look, QWidget* parent = nullptr);
    void setCompared(const Compared& compared);
    QSize sizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;
    bool event(QEvent* event) override;

private:
    QRect chipRect(std::size_t i) const;
    /// Why a family has no number, in two lines.
    void paintReason(QPainter& painter, const QRect& room, const QString& reason) const;
    QString tipOf(std::size_t chip) const;

    const Look& m_look;
    std::vector<report::Chip> m_chips;
    std::vector<QString> m_about; ///< per chip: how its interval was made, or why there is none
};

/// As many of the parts between " · " as have room, the first always: figures are not cut.
QString detailThatFits(const QString& detail, const QFont& font, int width);

} // namespace moire::widgets
