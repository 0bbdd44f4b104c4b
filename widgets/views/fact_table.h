// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "widgets/plot/look.h"

#include <QString>
#include <QWidget>

#include <vector>

namespace moire::widgets {

/// Rows of a label with one value, or with one for each run under coloured heads. Values are
/// monospaced; a value may hold marked characters (bits that differ).
class FactTable : public QWidget
{
    Q_OBJECT
public:
    struct Fact
    {
        QString label;
        QString reference; ///< or the only value
        QString target;
        bool paired = false;  ///< both columns
        bool strong = false;  ///< the value is emphasised
        bool words = false;   ///< the value is prose, not a number
        bool stacked = false; ///< paired, one below the other, with differing characters marked
    };

    explicit FactTable(const Look& look, QWidget* parent = nullptr);
    void setFacts(std::vector<Fact> facts);

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    int heightOf(const Fact& fact) const;
    bool hasPairs() const;
    void paintFact(QPainter& painter, const Fact& fact, int y) const;
    void paintStacked(QPainter& painter, const Fact& fact, int y) const;

    const Look& m_look;
    std::vector<Fact> m_facts;
};

} // namespace moire::widgets
