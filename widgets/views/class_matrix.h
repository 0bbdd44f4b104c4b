// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "widgets/plot/look.h"

#include <QWidget>

#include <cstdint>
#include <vector>

namespace moire::widgets {

/// Value classes of the reference (rows) against those of the target (columns).
class ClassMatrix : public QWidget
{
    Q_OBJECT
public:
    explicit ClassMatrix(const Look& look, QWidget* parent = nullptr);
    /// 6 × 6 counts in the order of numeric::ValueClass.
    void setMatrix(std::vector<std::vector<std::uint64_t>> matrix);
    /// Something other than normal numbers and zeros that stay what they are.
    bool isTelling() const;
    QSize sizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    const Look& m_look;
    std::vector<std::vector<std::uint64_t>> m_matrix;
};

} // namespace moire::widgets
