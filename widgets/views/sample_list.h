// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "widgets/models/cursor.h"
#include "widgets/models/sample_model.h"
#include "widgets/plot/look.h"

#include <QWidget>

class QListView;

namespace moire::widgets {

/// The samples, each with what happens in it and a small curve of its KL by position. Choosing one
/// moves the cursor to where it first differs.
class SampleList : public QWidget
{
    Q_OBJECT
public:
    SampleList(const Look& look, Cursor& cursor, QWidget* parent = nullptr);
    SampleModel& model() { return m_model; }

private:
    void setCompared();
    void follow();

    Cursor& m_cursor;
    SampleModel m_model;
    QListView* m_view;
    ComparedPointer m_compared;
};

} // namespace moire::widgets
