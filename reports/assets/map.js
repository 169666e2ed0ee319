// All writable memory as a picture: a cell a line, or a strip a line with its bytes. Only what is in sight is drawn.

const ZOOMS = [
  { name: "small cells", width: 8, height: 8 },
  { name: "cells", width: 13, height: 13 },
  { name: "large cells", width: 22, height: 22 },
  { name: "bytes", width: 0, height: 18 }, // as wide as four pixels a byte
];
const HEAD = 26; // pixels of a section's name

class LineMap {
  /** memories: all maps; open(section, line) is called for the line that is chosen. */
  constructor(memories, open) {
    this.sections = memories.flatMap((memory) => memory.sections);
    this.open = open;
    this.zoom = 1;
    this.cursor = null; // {section, line}
    this.canvas = el("canvas", {
      tabindex: "0",
      role: "application",
      "aria-roledescription": "map of lines",
      "aria-describedby": "map-said",
      "aria-label": "Map of all writable memory. Arrow keys go from line to line, Enter opens one.",
    });
    this.said = el("p", { id: "map-said", class: "status", "aria-live": "polite" });
    this.tip = el("div", { class: "tip", hidden: true });
    this.space = el("div", { class: "map-space" });
    this.box = el("div", { class: "map-box" }, this.canvas, this.space);
    this.box.addEventListener("scroll", () => this.draw(), { passive: true });
    this.canvas.addEventListener("mousemove", (event) => this.hover(event));
    this.canvas.addEventListener("mouseleave", () => {
      this.tip.hidden = true;
    });
    this.canvas.addEventListener("click", (event) => {
      const hit = this.hit(event);
      if (hit) this.go(hit, true);
    });
    this.canvas.addEventListener("keydown", (event) => this.key(event));
    document.addEventListener("themechange", () => {
      this.colors = null;
      this.draw();
    });
    new ResizeObserver(() => this.arrange()).observe(this.box);
  }

  view() {
    const zoomed = el("span", { class: "status" });
    const change = (by) => {
      this.zoom = Math.min(Math.max(this.zoom + by, 0), ZOOMS.length - 1);
      zoomed.textContent = ZOOMS[this.zoom].name;
      this.arrange();
      if (this.cursor) this.reveal();
    };
    const out = el("button", { type: "button", "aria-label": "Smaller cells", onclick: () => change(-1) }, "−");
    const into = el(
      "button",
      { type: "button", "aria-label": "Larger cells, then bytes", onclick: () => change(1) },
      "+",
    );
    this.change = change;
    change(0);
    return el(
      "div",
      { class: "map" },
      el("div", { class: "bar" }, out, into, zoomed, this.legend()),
      this.box,
      this.tip,
      this.said,
    );
  }

  legend() {
    const heats = HEAT_WORDS.map((word, heat) =>
      el("span", { class: "key" }, el("i", { class: `swatch heat${heat}` }), word),
    );
    return el(
      "span",
      { class: "keys-of-map" },
      heats,
      el("span", { class: "key" }, el("i", { class: "swatch marked" }), "has a finding; filled: high or critical"),
    );
  }

  /** Where each section begins, in rows of cells. */
  arrange() {
    const room = this.box.clientWidth;
    if (!room) return;
    const lineSize = this.sections[0]?.lineSize ?? 64;
    const zoom = ZOOMS[this.zoom];
    this.bytes = !zoom.width;
    this.width = this.bytes ? Math.min(lineSize * 4 + 10, room) : zoom.width;
    this.height = zoom.height;
    this.across = Math.max(Math.floor(room / this.width), 1);
    let top = 0;
    this.blocks = this.sections.map((section) => {
      const block = { section, top: top + HEAD, rows: Math.ceil(section.lines / this.across) };
      top = block.top + block.rows * this.height;
      return block;
    });
    this.space.style.height = `${Math.max(top + 8 - this.box.clientHeight, 0)}px`;
    this.draw();
  }

  readColors() {
    return {
      heat: HEAT_WORDS.map((_, at) => color(`heat${at}`)),
      text: color("text"),
      faint: color("faint"),
      mark: color("mark"),
      cursor: color("cursor"),
      back: color("back"),
    };
  }

  draw() {
    if (!this.blocks || !this.box.clientWidth) return;
    const ratio = devicePixelRatio || 1;
    const wide = this.box.clientWidth,
      high = this.box.clientHeight;
    if (this.canvas.width !== Math.round(wide * ratio) || this.canvas.height !== Math.round(high * ratio)) {
      this.canvas.width = Math.round(wide * ratio);
      this.canvas.height = Math.round(high * ratio);
      this.canvas.style.width = `${wide}px`;
      this.canvas.style.height = `${high}px`;
    }
    const pen = this.canvas.getContext("2d");
    const colors = (this.colors ??= this.readColors());
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, wide, high);
    pen.font = "600 13px system-ui, sans-serif";
    pen.textBaseline = "middle";
    const scrolled = this.box.scrollTop;
    for (const block of this.blocks) {
      const top = block.top - scrolled;
      if (top > high || top + block.rows * this.height < 0) continue;
      pen.fillStyle = colors.text;
      const { section } = block;
      pen.fillText(
        `${section.name}  ${section.address(0)}, ${plural(section.lines, "line")}`,
        2,
        top - HEAD / 2 + 2,
        wide,
      );
      const first = Math.max(Math.floor(-top / this.height), 0) * this.across;
      const last = Math.min(Math.ceil((high - top) / this.height) * this.across, section.lines);
      for (let line = first; line < last; line++)
        this.cell(pen, colors, section, line, this.place(block, line, scrolled));
    }
  }

  place(block, line, scrolled) {
    return {
      x: (line % this.across) * this.width,
      y: block.top + Math.floor(line / this.across) * this.height - scrolled,
    };
  }

  cell(pen, colors, section, line, { x, y }) {
    const wide = this.width - (this.bytes ? 10 : 1),
      high = this.height - (this.bytes ? 4 : 1);
    if (this.bytes) this.strip(pen, colors, section, line, x, y, wide, high);
    else {
      pen.fillStyle = colors.heat[section.heat[line]];
      pen.fillRect(x, y, wide, high);
    }
    const trouble = section.trouble[line];
    if (trouble) {
      pen.strokeStyle = colors.mark;
      pen.lineWidth = 2;
      pen.strokeRect(x + 1, y + 1, wide - 2, high - 2);
      if (trouble >= 4) {
        pen.fillStyle = colors.mark;
        const size = this.bytes ? 6 : Math.max(wide / 2.5, 3);
        pen.fillRect(this.bytes ? x + wide + 2 : x + (wide - size) / 2, y + (high - size) / 2, size, size);
      }
    }
    if (this.cursor?.section === section && this.cursor.line === line) {
      pen.strokeStyle = colors.cursor;
      pen.lineWidth = 3;
      pen.strokeRect(x - 0.5, y - 0.5, wide + 1, high + 1);
    }
  }

  /** One line by its bytes: owners alternate in height, so that neighbours are told apart without colours. */
  strip(pen, colors, section, line, x, y, wide, high) {
    const each = wide / section.lineSize;
    const first = section.offsetOf(line);
    let turn = 0,
      before = null;
    for (const span of section.spans(line)) {
      if (span.variable && before !== span.variable.row) {
        turn++;
        before = span.variable.row;
      }
      const { writes, reads } = section.heatIn(first + span.start, first + span.end);
      const heat =
        !span.variable || span.kind === "hole"
          ? NOTHING
          : writes > 1
            ? HOT_WRITE
            : reads > 1
              ? HOT_READ
              : writes + reads
                ? WARM
                : COLD;
      pen.fillStyle = colors.heat[heat];
      pen.fillRect(x + span.start * each, y + (turn % 2 ? 0 : 2), (span.end - span.start) * each - 0.7, high - 2);
    }
  }

  hit(event) {
    if (!this.blocks) return null;
    const box = this.canvas.getBoundingClientRect();
    const x = event.clientX - box.left,
      y = event.clientY - box.top + this.box.scrollTop;
    const block = this.blocks.find((one) => y >= one.top && y < one.top + one.rows * this.height);
    const column = Math.floor(x / this.width);
    if (!block || column >= this.across) return null;
    const line = Math.floor((y - block.top) / this.height) * this.across + column;
    return line < block.section.lines ? { section: block.section, line } : null;
  }

  hover(event) {
    const hit = this.hit(event);
    this.tip.hidden = !hit;
    if (!hit) return;
    this.tip.textContent = this.describe(hit);
    const box = this.box.getBoundingClientRect();
    const x = Math.min(event.clientX - box.left + 14, Math.max(box.width - 330, 0));
    const y = event.clientY - this.box.parentElement.getBoundingClientRect().top + 16;
    this.tip.style.transform = `translate(${x}px, ${y}px)`;
  }

  describe({ section, line }) {
    const first = section.offsetOf(line);
    const rows = section.variablesIn(first, first + section.lineSize);
    const names = rows
      .slice(0, 4)
      .map((row) => section.data.variables.names[row])
      .join(", ");
    const more = rows.length > 4 ? ` and ${number.format(rows.length - 4)} more` : "";
    const trouble = section.trouble[line] ? `, finding: ${SEVERITIES[section.trouble[line] - 1]}` : "";
    return `${section.name} ${section.address(first)}: ${HEAT_WORDS[section.heat[line]]}${trouble}. ${names}${more}`;
  }

  key(event) {
    const steps = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -this.across, ArrowDown: this.across };
    if (event.key === "+" || event.key === "-") return this.change(event.key === "+" ? 1 : -1);
    if (event.key === "Enter" && this.cursor) return this.open(this.cursor.section, this.cursor.line);
    if (!(event.key in steps) || !this.sections.length) return;
    event.preventDefault();
    let { section, line } = this.cursor ?? { section: this.sections[0], line: -Math.max(steps[event.key], 0) };
    line += steps[event.key];
    const at = this.sections.indexOf(section);
    if (line < 0 && at > 0) {
      section = this.sections[at - 1];
      line = section.lines - 1;
    } else if (line >= section.lines && at < this.sections.length - 1) {
      section = this.sections[at + 1];
      line = 0;
    }
    this.go({ section, line: Math.min(Math.max(line, 0), section.lines - 1) }, false);
  }

  /** Puts the cursor on a line, and opens it if asked to. */
  go(place, open) {
    this.cursor = place;
    this.reveal();
    this.said.textContent = this.describe(place);
    if (open) this.open(place.section, place.line);
  }

  reveal() {
    const block = this.blocks?.find((one) => one.section === this.cursor.section);
    if (!block) return;
    const top = block.top + Math.floor(this.cursor.line / this.across) * this.height;
    const scrolled = this.box.scrollTop,
      room = this.box.clientHeight;
    if (top - HEAD < scrolled || top + this.height > scrolled + room) this.box.scrollTop = Math.max(top - room / 2, 0);
    this.draw();
  }
}
