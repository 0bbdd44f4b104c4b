// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "widgets/views/cursor_details.h"
#include "widgets/views/ladder.h"
#include "widgets/views/state_view.h"

#include <QWidget>

class QStackedLayout;

namespace moire::widgets {

/// The best tokens of both runs at the cursor, with lines between the two rankings.
class TopKView : public QWidget
{
    Q_OBJECT
public:
    TopKView(const Look& look, Cursor& cursor, CursorDetails& details, QWidget* parent = nullptr);

private:
    void refresh();

    Cursor& m_cursor;
    CursorDetails& m_details;
    Ladder* m_ladder;
    StateView* m_state;
    QStackedLayout* m_stack;
};

/// The rungs of a logits row's ladder.
std::vector<LadderEntry> ladderOf(const Compared& compared, const diff::LogitsDetail& detail);
/// Margins of both runs: "11, 12 ulp"; in logits where there are no ulps.
QString marginText(const diff::LogitsDetail& detail);

} // namespace moire::widgets
