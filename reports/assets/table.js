// A table of which only the rows in sight exist, so that a hundred thousand scroll as ten do. Rows are boxes of their own
// and no element table, which the browser would lay out as a whole for each row that comes.

class VirtualTable {
  /** columns: {title, class, text(row), cell(row), key(row)}; open(row) is called for the row that is chosen. */
  constructor({ label, columns, rowHeight, open }) {
    Object.assign(this, {
      columns,
      rowHeight,
      open,
      rows: [],
      shown: [],
      sorted: { at: -1, down: false },
      chosen: null,
    });
    this.body = el("div", { class: "body", role: "rowgroup" });
    this.buttons = columns.map((column, at) =>
      el("button", { type: "button", onclick: () => this.sort(at) }, column.title),
    );
    this.heads = columns.map((column, at) =>
      el("div", { role: "columnheader", class: column.class }, this.buttons[at]),
    );
    this.head = el("div", { class: "head", role: "rowgroup" }, el("div", { role: "row", class: "row" }, this.heads));
    this.table = el("div", { role: "table", "aria-label": label }, this.head, this.body);
    this.made = new Map(); // the rows that there are, by place
    this.box = el("div", { class: "rows", tabindex: "0", role: "region", "aria-label": label }, this.table);
    this.box.addEventListener("scroll", () => this.draw(), { passive: true });
    this.box.addEventListener("keydown", (event) => this.key(event));
    this.body.addEventListener("click", (event) => {
      const row = event.target.closest("[data-at]");
      if (row && !event.target.closest("a")) this.choose(Number(row.dataset.at));
    });
    new ResizeObserver(() => this.draw()).observe(this.box);
  }

  /** The rows to show, before sorting. */
  set(rows) {
    this.rows = rows;
    this.arrange();
    this.fit();
    this.box.scrollTop = 0;
    this.draw(true);
  }

  /** Few rows make a low box: not higher than they and the heading are, with room for a bar to scroll sideways. */
  fit() {
    this.box.style.setProperty("--whole", `calc(${this.shown.length * this.rowHeight}px + 4.5rem)`);
  }

  sort(at) {
    this.sorted = { at, down: this.sorted.at === at ? !this.sorted.down : Boolean(this.columns[at].downFirst) };
    this.arrange();
    this.draw(true);
  }

  arrange() {
    const { at, down } = this.sorted;
    this.heads.forEach((head, number) => {
      if (number === at) head.setAttribute("aria-sort", down ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    });
    this.shown = this.rows;
    if (at < 0) return;
    const key = this.columns[at].key ?? this.columns[at].text;
    const keyed = this.rows.map((row, place) => [key(row), place, row]);
    const sign = down ? -1 : 1;
    keyed.sort(([a, first], [b, second]) => (a < b ? -sign : a > b ? sign : first - second));
    this.shown = keyed.map((entry) => entry[2]);
  }

  key(event) {
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10, Home: -Infinity, End: Infinity };
    if (!(event.key in steps) || !this.shown.length) return;
    event.preventDefault();
    const now = this.shown.indexOf(this.chosen);
    this.choose(Math.min(Math.max(now + steps[event.key], 0), this.shown.length - 1));
  }

  choose(at) {
    this.chosen = this.shown[at];
    this.reveal();
    this.open(this.chosen);
  }

  /** Mark a row as chosen and bring it into sight; null marks none. */
  mark(row) {
    this.chosen = row;
    this.reveal();
  }

  reveal() {
    const at = this.shown.indexOf(this.chosen);
    if (at >= 0) {
      const top = at * this.rowHeight;
      const room = this.box.clientHeight - this.head.offsetHeight;
      if (top < this.box.scrollTop) this.box.scrollTop = top;
      else if (top + this.rowHeight > this.box.scrollTop + room) this.box.scrollTop = top + this.rowHeight - room;
    }
    this.draw(true);
  }

  /** Rows that stay in sight stay as they are; ``anew`` makes all of them again. */
  draw(anew = false) {
    const room = Math.ceil(this.box.clientHeight / this.rowHeight);
    const first = Math.max(Math.floor(this.box.scrollTop / this.rowHeight) - 4, 0);
    const last = Math.min(first + room + 8, this.shown.length);
    if (!anew && this.first === first && this.last === last) return;
    if (anew) {
      this.made.clear();
      this.body.replaceChildren();
      this.body.style.height = `${this.shown.length * this.rowHeight}px`;
      this.table.setAttribute("aria-rowcount", this.shown.length + 1);
    }
    Object.assign(this, { first, last });
    for (const [at, row] of this.made) {
      if (at >= first && at < last) continue;
      row.remove();
      this.made.delete(at);
    }
    let next = this.body.firstChild;
    for (let at = first; at < last; at++) {
      const known = this.made.get(at);
      if (known) next = known.nextSibling;
      else {
        const row = this.row(at);
        this.made.set(at, row);
        this.body.insertBefore(row, next);
      }
    }
  }

  row(at) {
    const row = this.shown[at];
    const current = row === this.chosen;
    const cells = this.columns.map((column, number) =>
      el(
        "div",
        { class: column.class, role: number ? "cell" : "rowheader" },
        column.cell ? column.cell(row) : String(column.text(row)),
      ),
    );
    const made = el(
      "div",
      {
        class: "row",
        role: "row",
        "data-at": String(at),
        "aria-rowindex": String(at + 2),
        "aria-current": current && "true",
      },
      cells,
    );
    made.style.height = `${this.rowHeight}px`;
    made.style.transform = `translateY(${at * this.rowHeight}px)`;
    return made;
  }
}
