// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "widgets/plot/look.h"

#include <QWidget>

namespace moire::widgets {

/// A small heading inside a panel, with a remark at the right and a line below.
class SectionLabel : public QWidget
{
    Q_OBJECT
public:
    SectionLabel(const Look& look, const QString& title, QWidget* parent = nullptr);
    void setNote(const QString& note);
    QSize sizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    const Look& m_look;
    QString m_title;
    QString m_note;
};

} // namespace moire::widgets
