// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "widgets/plot/look.h"

#include <QString>
#include <QWidget>

#include <vector>

namespace moire::widgets {

/// Rows of a label with one value, or with one for each run under coloured heads. Values are
/// monospaced; a value may hold marked characters (bits that differ). Columns are as wide as what
/// they hold, and all values get smaller together where that is too much: no number is ever elided
/// at `leastWidth` or more.
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
    static constexpr int leastWidth = 280;

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    /// Where the columns stand and how large the values are.
    struct Columns
    {
        int value = 0;  ///< x of the first value
        int second = 0; ///< x of the target's value
        int right = 0;  ///< end of the room
        int pixels = 0; ///< font size of the values
    };
    Columns columns() const;
    int widthWith(int pixels, int& label, int& value) const;
    int heightOf(const Fact& fact) const;
    bool hasPairs() const;
    QFont valueFont(const Fact& fact, int pixels) const;
    void paintFact(QPainter& painter, const Columns& at, const Fact& fact, int y) const;
    void paintStacked(QPainter& painter, const Fact& fact, int y) const;

    const Look& m_look;
    std::vector<Fact> m_facts;
};

} // namespace moire::widgets
