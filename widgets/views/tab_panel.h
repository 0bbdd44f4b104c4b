// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "widgets/plot/look.h"

#include <QWidget>

namespace moire::widgets {

/// A card without a title line of its own, for a tab widget that brings one.
class TabPanel : public QWidget
{
    Q_OBJECT
public:
    TabPanel(const Look& look, QWidget* body, QWidget* parent = nullptr);

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    const Look& m_look;
};

} // namespace moire::widgets
