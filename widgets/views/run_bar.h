// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "widgets/models/compared.h"
#include "widgets/plot/look.h"

#include <QVector>
#include <QWidget>

class QToolButton;

namespace moire::widgets {

/// Both runs in a line: model, numerics, device, size; fields in which they differ are marked.
/// A click asks for the whole environment.
class RunBar : public QWidget
{
    Q_OBJECT
public:
    explicit RunBar(const Look& look, QWidget* parent = nullptr);
    void setCompared(const Compared& compared);
    /// Whether the sides can be swapped.
    void setSwappable(bool swappable);
    QSize sizeHint() const override;

Q_SIGNALS:
    void environmentRequested();
    void swapRequested();

protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    bool event(QEvent* event) override;

private:
    struct Chip
    {
        QString text;
        bool differs = false;
    };
    struct Side
    {
        QString title, model, file;
        QVector<Chip> chips;
    };
    static Side sideOf(const diff::Report& report, const diff::RunSummary& run,
                       const QString& title);
    void paintSide(QPainter& painter, const Side& side, const QRect& rect,
                   const QColor& colour) const;
    QRect sideRect(bool target) const;

    const Look& m_look;
    Side m_reference, m_target;
    QToolButton* m_swap;
};

} // namespace moire::widgets
