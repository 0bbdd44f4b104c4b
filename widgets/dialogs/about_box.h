// SPDX-FileCopyrightText: 2026 Moire contributors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

class QWidget;

namespace moire::widgets {

/// Shows what the program is, its version and licence.
void showAboutBox(QWidget& window);

} // namespace moire::widgets
