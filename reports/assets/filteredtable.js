// A table with what filters it: a box for text, selections of a field's values, and a line that says how much is left.

class FilteredTable {
  /**
   * label, columns, open: as of VirtualTable; rows: all of them; searchLabel: what the box searches, for readers of
   * screens; textOf(row): the text that it looks into; choices: what each selected field is called, by field;
   * status(kept): how much is left, in words.
   */
  constructor({ label, columns, open, rows, searchLabel, textOf, choices = {}, status }) {
    Object.assign(this, { rows, textOf, status, kept: rows });
    this.table = new VirtualTable({ label, columns, rowHeight: 48, open });
    const filter = () => this.filter();
    const attributes = { type: "search", placeholder: "Filter (press /)", "aria-label": searchLabel, oninput: filter };
    this.search = el("input", attributes);
    this.selects = Object.entries(choices)
      .map(([field, name]) => this.choice(field, name))
      .filter(Boolean);
    const clear = el("button", { type: "button", class: "quiet", onclick: () => this.clear() }, "Clear");
    this.left = el("p", { class: "status", role: "status" });
    const bar = [
      this.search,
      this.selects.map(({ select }) => select),
      Object.keys(choices).length ? clear : null,
      this.left,
    ];
    this.view = [el("div", { class: "bar" }, bar), this.table.box];
    this.filter();
  }

  /** A selection of one of a field's values; none where there is nothing to choose. */
  choice(field, name) {
    const counts = new Map();
    for (const row of this.rows) if (row[field]) counts.set(row[field], (counts.get(row[field]) ?? 0) + 1);
    if (counts.size < 2) return null;
    const values = [...counts.keys()].sort(
      field === "severity" ? (a, b) => SEVERITIES.indexOf(b) - SEVERITIES.indexOf(a) : undefined,
    );
    const select = el(
      "select",
      { "aria-label": `Only this ${name}`, onchange: () => this.filter() },
      el("option", { value: "" }, `any ${name}`),
      values.map((value) => el("option", { value }, `${value} (${counts.get(value)})`)),
    );
    return { field, select };
  }

  filter() {
    const words = this.search.value.toLowerCase().split(/\s+/).filter(Boolean);
    if (words.length) this.texts ??= this.rows.map((row) => this.textOf(row).toLowerCase()); // by the first search
    this.kept = this.rows.filter(
      (row, at) =>
        words.every((word) => this.texts[at].includes(word)) &&
        this.selects.every(({ field, select }) => !select.value || row[field] === select.value),
    );
    this.table.set(this.kept);
    this.left.textContent = this.status(this.kept);
  }

  clear() {
    this.search.value = "";
    for (const { select } of this.selects) select.value = "";
    this.filter();
  }

  /** Marks the row that is wanted and brings it into sight, none where the filter leaves it out. */
  mark(wanted) {
    this.table.mark(this.kept.find(wanted) ?? null);
  }
}
