// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "widgets/plot/look.h"

#include <QString>
#include <QWidget>

#include <vector>

namespace moire::widgets {

/// One thing that both runs rank: a token or an expert.
struct LadderEntry
{
    QString label;
    double reference = 0; ///< what the bar shows; NaN: not known
    double target = 0;
    int referenceRank = -1; ///< from 0; −1: not among the shown
    int targetRank = -1;
};

/// Two rankings side by side with lines from each entry to its place on the other side. Lines that
/// cross the order are in the target's colour. Equal values that follow each other are marked "=".
/// Where there is little room first the bars go, then the labels are elided; numbers never are.
class Ladder : public QWidget
{
    Q_OBJECT
public:
    explicit Ladder(const Look& look, QWidget* parent = nullptr);
    /// `ranks`: how many places each side shows. `valueDigits`: significant digits.
    void setEntries(std::vector<LadderEntry> entries, int ranks, int valueDigits);
    /// `notes`: the same remark from long to short; the first that has room is shown.
    void setHeads(const QString& rank, const QStringList& notes);

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    struct Columns;
    Columns columns() const;
    int shownRanks() const;
    const LadderEntry* entryAt(int rank, bool target) const;
    void paintSide(QPainter& painter, const Columns& at, bool target) const;
    void paintLines(QPainter& painter, const Columns& at) const;
    /// An entry that the other side does not show, in words or as a stub where there is no room.
    void paintEnd(QPainter& painter, const QRect& line, bool target, const QString& words) const;
    double barShare(double value) const;
    /// With "=" where the next one has the same value.
    QString valueText(const LadderEntry& entry, bool target) const;
    void paintNote(QPainter& painter, const Columns& at) const;

    const Look& m_look;
    std::vector<LadderEntry> m_entries;
    int m_ranks = 0;
    int m_digits = 6;
    double m_low = 0, m_high = 1; ///< values of an empty and a full bar
    QString m_rankHead;
    QStringList m_notes;
};

} // namespace moire::widgets
