// The page of findings: views, the address of what is shown, keys, print.

const PRINTED = 200; // findings on paper

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
    this.lists = new Map(); // the tables of variables and functions, once they are shown
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
    const all = this.page.findings;
    this.findings = new FilteredTable({
      label: "Findings",
      columns: this.findingColumns(),
      open: (row) => this.show(row.id),
      rows: all,
      searchLabel: "Text that a finding has",
      textOf: (row) =>
        [row.id, row.rule, row.verdict, row.message, row.place, row.where, ...row.names].join("\n"),
      choices: { severity: "severity", rule: "rule", confidence: "confidence", file: "file", section: "section" },
      status: (kept) =>
        kept.length === all.length
          ? plural(all.length, "finding")
          : `${number.format(kept.length)} of ${plural(all.length, "finding")}`,
    });
    return this.findings.view;
  }

  listView(name, columns, rows, open) {
    const table = new FilteredTable({
      label: `All ${name}`,
      columns,
      open,
      rows,
      searchLabel: `Text that the names of ${name} have`,
      textOf: (row) => `${row.name}\n${row.type?.name ?? ""}\n${row.source ?? ""}`,
      status: (kept) => `${number.format(kept.length)} of ${number.format(rows.length)} ${name}`,
    });
    this.lists.set(name, table);
    return table.view;
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
    const [worst] = this.findings.kept;
    this.pane.replaceChildren(
      ...(worst ? nodes(this.findingDetails.of(worst)) : [el("p", { class: "faint" }, "There are no findings.")]),
    );
    this.findings.mark((one) => one === worst);
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
      if (!this.findings.kept.includes(finding)) this.findings.clear();
      this.findings.mark((one) => one === finding);
      this.fill(this.findingDetails.of(finding));
    }
  }

  openPlace(kind, name, memory) {
    if (kind === "function") {
      const row = memory?.functionNumber.get(name);
      if (row === undefined) return this.missing(name);
      this.turnTo("functions");
      this.lists.get("functions").mark((one) => one.memory === memory && one.row === row);
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
    this.lists.get("variables").mark((one) => one.section === section && one.row === row);
    return this.fill(this.memoryDetails.variable(section.variable(row)));
  }

  missing(name) {
    this.fill([el("h2", {}, "Not in this report"), el("p", {}, `Nothing here is called ${name}.`)]);
  }

  fill(content) {
    const back = el("button", { type: "button", class: "back", onclick: () => this.back() }, "← Back to the list");
    this.pane.replaceChildren(back, ...nodes(content));
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
    const { kept } = this.findings;
    const more = kept.length - PRINTED;
    byId("print").replaceChildren(
      ...kept.slice(0, PRINTED).map((finding) => el("article", {}, this.findingDetails.of(finding))),
      ...(more > 0 ? [el("p", {}, `and ${number.format(more)} more`)] : []),
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
