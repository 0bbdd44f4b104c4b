// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "core/diff/report.h"
#include "widgets/plot/look.h"

#include <QWidget>

class QLabel;
class QToolButton;

namespace moire::widgets {

/// The verdict in words, the largest text of the window, and below it the cause.
class VerdictBar : public QWidget
{
    Q_OBJECT
public:
    explicit VerdictBar(const Look& look, QWidget* parent = nullptr);
    void setReport(const diff::Report& report);

Q_SIGNALS:
    void copyLinkRequested();
    void firstRequested();

protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;

private:
    void restyle();

    const Look& m_look;
    QLabel* m_text;
    QLabel* m_cause;
    QToolButton* m_copy;
    QString m_verdict;
    QString m_causeText;
    int m_exit = 0;
};

/// What a tolerance profile says of the report, in a sentence; empty without a profile.
QString toleranceText(const diff::Report& report);

/// Second line of the verdict: why, and what a tolerance profile says where the verdict does not;
/// empty when a report holds neither.
QString causeText(const diff::Report& report);

/// The verdict as rich text: its first words (up to a colon) strong, names of taps monospaced,
/// everything escaped.
QString verdictMarkup(const QString& verdict, const QString& monoFamily);

} // namespace moire::widgets
