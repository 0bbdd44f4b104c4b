/* SPDX-FileCopyrightText: 2026 Moire contributors; SPDX-License-Identifier: Apache-2.0 */
"use strict";
// What the page says without this script is all it has to say: here are only sorting and hover.

// A click on a column's head sorts by it: up, down, as it was.
const numberIn = (text) => {
  const bare = text.replace(/,/g, "").replace("−", "-");
  const found = bare.match(/-?(\d+\.?\d*(e[+-]?\d+)?|Infinity)/i);
  return found ? Number(found[0]) : NaN;
};
const compareCells = (a, b, isNumber) => {
  if (!isNumber)
    return a.localeCompare(b, "en", { numeric: true });
  const x = numberIn(a), y = numberIn(b);
  return Number.isNaN(x) ? (Number.isNaN(y) ? 0 : 1) : Number.isNaN(y) ? -1 : x - y;
};
const sortBy = (table, column, direction) => {
  const body = table.tBodies[0];
  table.asWas ??= [...body.rows];
  const rows = [...table.asWas];
  const isNumber = table.tHead.rows[0].cells[column].classList.contains("number");
  const textOf = (row) => row.cells[column]?.textContent.trim() ?? "";
  const missing = (text) => text === "" || text === "–" || (isNumber && Number.isNaN(numberIn(text)));
  if (direction)
    rows.sort((a, b) => {
      const x = textOf(a), y = textOf(b);
      if (missing(x) || missing(y))
        return missing(x) - missing(y);
      return direction * compareCells(x, y, isNumber);
    });
  for (const row of rows) {
    row.hidden = direction !== 0 && row.querySelector(".family") !== null;
    body.append(row);
  }
};
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    button.title = "Sort by this column";
    head.append(button);
    button.addEventListener("click", () => {
      const before = head.getAttribute("aria-sort");
      const direction = before === "ascending" ? -1 : before === "descending" ? 0 : 1;
      for (const other of heads)
        other.removeAttribute("aria-sort");
      if (direction)
        head.setAttribute("aria-sort", direction > 0 ? "ascending" : "descending");
      sortBy(table, column, direction);
    });
  });
}

// What the cell of a map under the mouse holds: its colour, looked up in the picture itself.
const tip = document.createElement("div");
tip.className = "tip";
tip.hidden = true;
document.body.append(tip);
const lastAtOrBefore = (pairs, place) => {
  let low = 0, high = pairs.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (pairs[middle][0] <= place) low = middle + 1; else high = middle;
  }
  return pairs[low - 1];
};
// The originals, half-open, that a pixel of a pooled picture stands for.
const span = (pixel, pixels, count) =>
  [Math.ceil(pixel * count / pixels), Math.max(Math.ceil((pixel + 1) * count / pixels), Math.ceil(pixel * count / pixels) + 1)];
const range = (first, last) => first === last ? `${first}` : `${first} … ${last}`;
const columnWords = (data, [begin, end]) => {
  const sample = data.samples && lastAtOrBefore(data.samples, begin);
  const position = (column) => {
    const run = data.positions.length ? lastAtOrBefore(data.positions, column) : null;
    return run ? run[1] + column - run[0] : null;
  };
  const last = data.samples && lastAtOrBefore(data.samples, end - 1);
  if (last && last !== sample)
    return `samples ${sample[1]} … ${last[1]}`;
  const places = position(begin) === null ? `row ${range(begin, end - 1)}`
                                          : `position ${range(position(begin), position(end - 1))}`;
  return (sample ? `${sample[1]} · ` : "") + places;
};
for (const script of document.querySelectorAll("script.cells")) {
  const data = JSON.parse(script.textContent);
  const figure = script.previousElementSibling;
  for (const image of figure.querySelectorAll("image.map")) {
    const colours = data[image.classList.contains("dark") ? "dark" : "light"];
    const picture = new Image();
    let pixels = null;
    picture.addEventListener("load", () => {
      const canvas = document.createElement("canvas");
      canvas.width = picture.naturalWidth;
      canvas.height = picture.naturalHeight;
      const context = canvas.getContext("2d", { willReadFrequently: true });
      context.drawImage(picture, 0, 0);
      pixels = context.getImageData(0, 0, canvas.width, canvas.height);
    });
    picture.src = image.getAttribute("href");
    const levelAt = (x, y) => {
      const at = 4 * (y * pixels.width + x);
      if (pixels.data[at + 3] === 0)
        return -1;
      const hex = [0, 1, 2].map((i) => pixels.data[at + i].toString(16).padStart(2, "0")).join("");
      return colours.indexOf(`#${hex}`);
    };
    image.addEventListener("mousemove", (event) => {
      if (!pixels)
        return;
      const box = image.getBoundingClientRect();
      const inside = (at, size, count) => Math.min(count - 1, Math.max(0, Math.floor(at / size * count)));
      const x = inside(event.clientX - box.left, box.width, pixels.width);
      const y = inside(event.clientY - box.top, box.height, pixels.height);
      const level = levelAt(x, y);
      const [rowBegin, rowEnd] = span(y, pixels.height, data.rows);
      const name = (row) => data.names ? data.names[row] : `row ${row + 1}`;
      tip.textContent = [
        range(name(rowBegin), name(Math.min(rowEnd, data.rows) - 1)),
        columnWords(data, span(x, pixels.width, data.columns)),
        level < 0 ? "not comparable or not recorded"
          : level < 2 ? data.words[level] : `${data.quantity} ${data.words[level]}`,
      ].join("\n");
      tip.hidden = false;
      const left = Math.min(event.pageX + 14, scrollX + document.documentElement.clientWidth - tip.offsetWidth - 8);
      tip.style.left = `${left}px`;
      tip.style.top = `${event.pageY + 16}px`;
    });
    image.addEventListener("mouseleave", () => { tip.hidden = true; });
  }
}
