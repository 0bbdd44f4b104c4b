// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "core/diff/report.h"
#include "widgets/plot/look.h"

#include <QWidget>

class QLabel;
class QToolButton;

namespace moire::widgets {

/// The verdict in words, the largest text of the window, and below it the cause: two lines and one
/// in a low window, three and two in others, so that the map keeps its room.
class VerdictBar : public QWidget
{
    Q_OBJECT
public:
    explicit VerdictBar(const Look& look, QWidget* parent = nullptr);
    void setReport(const diff::Report& report);
    /// Whether the window is low: then the texts have fewer lines.
    void setLow(bool low);
    /// Whether there is something that a link could name.
    void setLinkable(bool linkable);

Q_SIGNALS:
    void copyLinkRequested();
    void firstRequested();

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;

private:
    void restyle();
    /// Both texts as far as they have room; the tooltip has all of them.
    void fit();

    const Look& m_look;
    QLabel* m_text;
    QLabel* m_cause;
    QToolButton* m_copy;
    QString m_verdict;
    QString m_causeText;
    int m_exit = 0;
    bool m_low = false;
};

/// What a tolerance profile says of the report, in a sentence; empty without a profile.
QString toleranceText(const diff::Report& report);

/// Second line of the verdict: why, and what a tolerance profile says where the verdict does not;
/// empty when a report holds neither.
QString causeText(const diff::Report& report);

/// As much of `text` as verdictMarkup() sets in so many lines of a width in pixels; what is cut
/// ends in "…".
QString fittedVerdict(const QString& text, const QFont& font, const QString& monoFamily, int width,
                      int lines);

/// The verdict as rich text: its first words (up to a colon) strong, names of taps monospaced,
/// everything escaped.
QString verdictMarkup(const QString& verdict, const QString& monoFamily);

} // namespace moire::widgets
