// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "widgets/plot/look.h"

#include <QWidget>

#include <cstdint>
#include <utility>
#include <vector>

namespace moire::widgets {

/// Counts of elements by their signed distance in ulps, on a log axis. Bins far out may be joined.
class UlpHistogram : public QWidget
{
    Q_OBJECT
public:
    explicit UlpHistogram(const Look& look, QWidget* parent = nullptr);
    /// Signed ulps → count, ascending; −16 and 16 hold all beyond.
    void setCounts(std::vector<std::pair<std::int64_t, std::uint64_t>> counts);
    QSize sizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    std::vector<QRect> bars() const;
    /// As many counts and bins as have room, none over another or cut off.
    void paintLabels(QPainter& painter, const std::vector<QRect>& boxes) const;

    const Look& m_look;
    std::vector<std::pair<std::int64_t, std::uint64_t>> m_counts; ///< without empty bins
};

} // namespace moire::widgets
