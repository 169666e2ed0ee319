// The page of findings: views, filters, the address of what is shown, keys, print.

const PRINTED = 200; // findings on paper

const findingColumns = [
  {
    title: "severity",
    class: "narrow",
    key: (row) => -SEVERITIES.indexOf(row.severity),
    text: (row) => row.severity,
    cell: (row) => badge(row.severity),
  },
  {
    title: "variables",
    class: "wide",
    text: (row) => row.names.join(" / "),
    cell: (row) => [
      el("a", { href: `#${row.id}` }, row.names.join(" / ")),
      el("small", {}, [row.place, row.where, row.rule].filter(Boolean).join(", ")),
    ],
  },
  {
    title: "time",
    class: "narrow number rest",
    downFirst: true,
    key: (row) => row.share ?? -1,
    text: (row) => (row.share === null ? "" : percent(row.share)),
  },
  { title: "rule", class: "rest long", text: (row) => row.rule },
  { title: "confidence", class: "rest", text: (row) => row.confidence },
  { title: "file", class: "rest", text: (row) => row.file },
  { title: "section", class: "rest", text: (row) => row.section },
];

const variableColumns = [
  {
    title: "variable",
    class: "wide",
    text: (row) => row.name,
    cell: (row) => [
      el(
        "a",
        {
          href: `#${variableHash(row)}`,
        },
        row.name,
      ),
      el("small", {}, [row.type?.name, row.source].filter(Boolean).join(", ")),
    ],
  },
  {
    title: "bytes",
    class: "narrow number",
    downFirst: true,
    key: (row) => row.size,
    text: (row) => number.format(row.size),
  },
  {
    title: "its lines",
    class: "narrow rest",
    downFirst: true,
    key: (row) => row.heat,
    text: (row) => HEAT_WORDS[row.heat],
  },
  { title: "address", class: "narrow rest", key: (row) => row.order, text: (row) => row.section.address(row.offset) },
  { title: "section", class: "narrow rest", text: (row) => row.section.name },
];

const functionColumns = [
  {
    title: "function",
    class: "wide",
    text: (row) => row.name,
    cell: (row) => [
      el("a", { href: `#${functionHash(row.memory, row.name)}` }, row.name),
      el("small", {}, row.memory.threadsOf(row.row).join(", ")),
    ],
  },
  { title: "writes", class: "narrow number", downFirst: true, text: (row) => row.writes },
  { title: "reads", class: "narrow number rest", downFirst: true, text: (row) => row.reads },
  { title: "locks", class: "narrow number rest", downFirst: true, text: (row) => row.locks },
];

class ReportPage {
  constructor(page) {
    this.page = page;
    this.memories = page.maps.map((data, at) => new Memory(data, at));
    this.links = new Links(this.memories, page.findings);
    this.findingDetails = new FindingDetails(this.links, page.rules);
    this.memoryDetails = new MemoryDetails(this.links);
    this.complete();
    this.pane = el("section", { id: "detail", tabindex: "-1", "aria-label": "Details" });
    this.views = new Map();
    this.addView("findings", `Findings (${number.format(page.findings.length)})`, () => this.findingsView());
    if (this.memories.some((memory) => memory.sections.length)) {
      const sections = this.memories.flatMap((memory) => memory.sections);
      const total = (counts) => number.format(counts.reduce((sum, count) => sum + count, 0));
      this.addView("map", "Map", () => this.mapView());
      this.addView("variables", `Variables (${total(sections.map((section) => section.starts.length))})`, () =>
        this.listView("variables", variableColumns, this.variables(), (row) => this.show(variableHash(row))),
      );
      const functions = this.memories.map((memory) => memory.data.functions.length);
      this.addView("functions", `Functions (${total(functions)})`, () =>
        this.listView("functions", functionColumns, this.functions(), (row) =>
          this.show(functionHash(row.memory, row.name)),
        ),
      );
    }
    this.build();
  }

  /** What findings have from the map: section, share of the sampled time; and the trouble of the map's lines. */
  complete() {
    for (const finding of this.page.findings) {
      const memory = this.links.mapOf(finding);
      const place = finding.line && memory ? memory.at(finding.line) : null;
      finding.section = place ? place.section.name : "";
      finding.share = null;
      if (!place) continue;
      for (const address of linesOf(finding, memory)) {
        const at = memory.at(address);
        const rank = SEVERITIES.indexOf(finding.severity) + 1;
        if (at) {
          const line = at.section.lineOf(at.offset);
          at.section.trouble[line] = Math.max(at.section.trouble[line], rank);
        }
        const sampled = memory.sampled.get(address);
        if (sampled) finding.share = (finding.share ?? 0) + sampled.share;
      }
    }
  }

  /** All variables; ``heat`` is that of the busiest line that each is on. */
  variables() {
    return this.memories
      .flatMap((memory) => memory.sections)
      .flatMap((section) => section.data.variables.names.map((_, row) => section.variable(row)))
      .map((variable, order) => Object.assign(variable, { order, heat: variable.section.heatOf(variable) }));
  }

  functions() {
    return this.memories.flatMap((memory) => {
      const rows = memory.data.functions.map((name, row) => ({ memory, name, row, writes: 0, reads: 0, locks: 0 }));
      for (const section of memory.sections) {
        const { functions, verbs } = section.data.accesses;
        functions.forEach((row, at) => {
          rows[row].writes += verbs[at] & WRITES ? 1 : 0;
          rows[row].reads += verbs[at] & READS ? 1 : 0;
          rows[row].locks += verbs[at] & LOCKS ? 1 : 0;
        });
      }
      return rows;
    });
  }

  /** A view, which ``make`` fills when it is first turned to: a kernel has a hundred thousand rows. */
  addView(name, title, make) {
    const button = el("button", { type: "button", onclick: () => this.turnTo(name) }, title);
    const box = el("div", { class: "view", id: `view-${name}`, hidden: true });
    this.views.set(name, { button, box, make });
  }

  turnTo(name) {
    const view = this.views.get(name);
    if (!view.box.hasChildNodes()) view.box.append(...[view.make()].flat());
    for (const [other, { button, box }] of this.views) {
      box.hidden = other !== name;
      if (other === name) button.setAttribute("aria-current", "page");
      else button.removeAttribute("aria-current");
    }
    this.current = name;
    document.body.classList.remove("has-detail");
  }

  // ---- views

  mapView() {
    this.map = new LineMap(this.memories, (section, line) => this.show(lineHash(section, line)));
    return this.map.view();
  }

  /** Without the columns that say nothing here. */
  findingColumns() {
    return findingColumns.filter((column) => this.page.findings.some((finding) => column.text(finding) !== ""));
  }

  findingsView() {
    this.findings = new VirtualTable({
      label: "Findings",
      columns: this.findingColumns(),
      rowHeight: 48,
      open: (row) => this.show(row.id),
    });
    this.search = el("input", {
      type: "search",
      placeholder: "Filter (press /)",
      "aria-label": "Text that a finding has",
    });
    this.search.addEventListener("input", () => this.filter());
    const choices = { severity: "severity", rule: "rule", confidence: "confidence", file: "file", section: "section" };
    this.selects = Object.entries(choices)
      .map(([field, label]) => this.choice(field, label))
      .filter(Boolean);
    const clear = el("button", { type: "button", class: "quiet", onclick: () => this.clear() }, "Clear");
    this.said = el("p", { class: "status", role: "status" });
    this.page.findings.forEach((finding) => {
      finding.text = [
        finding.id,
        finding.rule,
        finding.verdict,
        finding.message,
        finding.place,
        finding.where,
        ...finding.names,
      ]
        .join("\n")
        .toLowerCase();
    });
    this.filter();
    return [
      el(
        "div",
        { class: "bar" },
        this.search,
        this.selects.map((one) => one.select),
        clear,
        this.said,
      ),
      this.findings.box,
    ];
  }

  /** A selection of one of a field's values; none where there is nothing to choose. */
  choice(field, label) {
    const counts = new Map();
    for (const finding of this.page.findings)
      if (finding[field]) counts.set(finding[field], (counts.get(finding[field]) ?? 0) + 1);
    if (counts.size < 2) return null;
    const values = [...counts.keys()].sort(
      field === "severity" ? (a, b) => SEVERITIES.indexOf(b) - SEVERITIES.indexOf(a) : undefined,
    );
    const select = el(
      "select",
      { "aria-label": `Only this ${label}` },
      el("option", { value: "" }, `any ${label}`),
      values.map((value) => el("option", { value }, `${value} (${counts.get(value)})`)),
    );
    select.addEventListener("change", () => this.filter());
    return { field, select };
  }

  filter() {
    const words = this.search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const rows = this.page.findings.filter(
      (finding) =>
        words.every((word) => finding.text.includes(word)) &&
        this.selects.every(({ field, select }) => !select.value || finding[field] === select.value),
    );
    this.filtered = rows;
    this.findings.set(rows);
    this.said.textContent =
      rows.length === this.page.findings.length
        ? plural(rows.length, "finding")
        : `${number.format(rows.length)} of ${plural(this.page.findings.length, "finding")}`;
  }

  clear() {
    this.search.value = "";
    for (const { select } of this.selects) select.value = "";
    this.filter();
  }

  listView(name, columns, rows, open) {
    const table = new VirtualTable({ label: `All ${name}`, columns, rowHeight: 48, open });
    const search = el("input", {
      type: "search",
      placeholder: "Filter (press /)",
      "aria-label": `Text that the names of ${name} have`,
    });
    const said = el("p", { class: "status", role: "status" });
    const textOf = (row) => `${row.name}\n${row.type?.name ?? ""}\n${row.source ?? ""}`.toLowerCase();
    let texts = null; // made by the first search
    const filter = () => {
      if (search.value) texts ??= rows.map(textOf);
      const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
      const kept = words.length ? rows.filter((_, at) => words.every((word) => texts[at].includes(word))) : rows;
      table.set(kept);
      said.textContent = `${number.format(kept.length)} of ${number.format(rows.length)} ${name}`;
    };
    search.addEventListener("input", filter);
    filter();
    this[name + "Table"] = table;
    return [el("div", { class: "bar" }, search, said), table.box];
  }

  // ---- the whole

  build() {
    const nav = el(
      "nav",
      { "aria-label": "Views" },
      [...this.views.values()].map(({ button }) => button),
      el("span", { class: "grow" }),
      themeButton(),
      helpButton([
        ["/", "filter"],
        ["↑ ↓", "from row to row, from line to line"],
        ["Enter", "open the line at the cursor of the map"],
        ["+ −", "zoom the map, in the end to bytes"],
        ["Esc", "back to the list"],
        ["1 – 4", "findings, map, variables, functions"],
        ["?", "these keys"],
      ]),
    );
    const views = el(
      "div",
      { class: "views" },
      [...this.views.values()].map(({ box }) => box),
    );
    byId("app").replaceChildren(
      nav,
      ...this.summary(),
      el("div", { class: "split" }, views, this.pane),
      el("div", { id: "print" }),
    );
    document.addEventListener("keydown", (event) => this.key(event));
    addEventListener("hashchange", () => this.route());
    addEventListener("beforeprint", () => this.print());
    this.turnTo("findings");
    const [worst] = this.filtered;
    this.pane.replaceChildren(
      ...(worst
        ? this.findingDetails.of(worst).flat(Infinity).filter(Boolean)
        : [el("p", { class: "faint" }, "There are no findings.")]),
    );
    this.findings.mark(worst ?? null);
    this.route();
  }

  /** What was sampled, and what a fix gains, where that is known. */
  summary() {
    const seen = this.page.findings.filter((finding) => finding.share !== null);
    if (!seen.length) return [];
    const lines = new Map();
    for (const finding of seen) {
      const memory = this.links.mapOf(finding);
      for (const address of linesOf(finding, memory))
        if (memory.sampled.has(address))
          lines.set(`${memory.number} ${address}`, { finding, line: memory.sampled.get(address) });
    }
    const total = [...lines.values()].reduce((sum, { line }) => sum + line.share, 0);
    const worst = [...lines.values()].sort((a, b) => b.line.share - a.line.share).slice(0, 3);
    return [
      el(
        "section",
        { class: "sampled", "aria-label": "Sampled" },
        el("p", {}, el("b", {}, percent(total)), " of the sampled time falls on lines with findings."),
        el(
          "ul",
          { class: "plain" },
          worst.map(({ finding, line }) =>
            el(
              "li",
              {},
              el("b", {}, percent(line.share)),
              " ",
              el("a", { href: `#${finding.id}` }, finding.names.join(" / ")),
              line.gain ? `: ${line.gain}` : "",
            ),
          ),
        ),
      ),
    ];
  }

  show(hash) {
    if (addressed(location.hash) === addressed(hash)) this.route();
    else location.hash = hash;
  }

  /** Opens what the address names. */
  route() {
    const name = addressed(location.hash);
    if (!name) return;
    const parts = /^(line|variable|function)=(.*?)(?:@(\d+))?$/s.exec(name);
    if (parts) this.openPlace(parts[1], parts[2], this.memories[Number(parts[3] ?? 0)]);
    else {
      const finding = this.page.findings.find((one) => one.id === name);
      if (!finding) return this.missing(name);
      this.turnTo("findings");
      if (!this.filtered.includes(finding)) this.clear();
      this.findings.mark(finding);
      this.fill(this.findingDetails.of(finding));
    }
  }

  openPlace(kind, name, memory) {
    if (kind === "function") {
      const row = memory?.functionNumber.get(name);
      if (row === undefined) return this.missing(name);
      this.turnTo("functions");
      this.functionsTable.mark(
        this.functionsTable.shown.find((one) => one.memory === memory && one.row === row) ?? null,
      );
      return this.fill(this.memoryDetails.function(memory, row));
    }
    const place = /^0x[0-9a-f]{1,16}$/.test(name) ? memory?.at(name) : null;
    if (!place) return this.missing(name);
    const { section, offset } = place;
    if (kind === "line") {
      this.turnTo("map");
      const line = section.lineOf(offset);
      this.map.arrange();
      this.map.go({ section, line }, false);
      return this.fill(this.memoryDetails.line(section, line));
    }
    const [row] = section.variablesIn(offset, offset + 1).slice(-1);
    if (row === undefined) return this.missing(name);
    this.turnTo("variables");
    this.variablesTable.mark(
      this.variablesTable.shown.find((one) => one.section === section && one.row === row) ?? null,
    );
    return this.fill(this.memoryDetails.variable(section.variable(row)));
  }

  missing(name) {
    this.fill([el("h2", {}, "Not in this report"), el("p", {}, `Nothing here is called ${name}.`)]);
  }

  fill(content) {
    const back = el("button", { type: "button", class: "back", onclick: () => this.back() }, "← Back to the list");
    this.pane.replaceChildren(
      back,
      ...content.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== ""),
    );
    this.pane.scrollTop = 0;
    document.body.classList.add("has-detail");
    if (matchMedia("(max-width: 1099px)").matches) scrollTo(0, 0);
  }

  back() {
    document.body.classList.remove("has-detail");
    this.views.get(this.current).box.querySelector(".rows, canvas")?.focus();
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape" && !document.querySelector("dialog[open]")) return this.back();
    if (typing(event.target)) return;
    const view = [...this.views.keys()][Number(event.key) - 1];
    if (view) return this.turnTo(view);
    if (event.key === "/") {
      event.preventDefault();
      if (!this.views.get(this.current).box.querySelector("input")) this.turnTo("findings");
      this.views.get(this.current).box.querySelector("input").focus();
    }
  }

  /** On paper, the findings of the filter one after another. */
  print() {
    const shown = this.filtered.slice(0, PRINTED);
    byId("print").replaceChildren(
      ...shown.map((finding) => el("article", {}, this.findingDetails.of(finding).flat(Infinity).filter(Boolean))),
      ...(this.filtered.length > PRINTED
        ? [el("p", {}, `and ${number.format(this.filtered.length - PRINTED)} more`)]
        : []),
    );
  }
}

pageData()
  .then((page) => new ReportPage(page))
  .catch((error) => {
    byId("app").replaceChildren(
      el(
        "p",
        { role: "alert" },
        `This page could not be shown: ${error.message}. A browser of 2023 or later is needed.`,
      ),
    );
  });
