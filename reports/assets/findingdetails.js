// What is known of one finding, as the pane beside the tables and the map.

const FUNCTIONS_SHOWN = 8; // of one kind of access
const EXCERPTS_SHOWN = 6;

class FindingDetails {
  /** links: a Links; rules: the page of each rule, by id. */
  constructor(links, rules) {
    this.links = links;
    this.rules = rules;
  }

  /** All of it, worst news first: what, what to do, on which bytes, who, where, how it is known. */
  of(finding) {
    const memory = this.links.mapOf(finding);
    const place = memory?.at(finding.line) ?? null;
    const where = place
      ? this.links.line(place.section, place.section.lineOf(place.offset), finding.where)
      : finding.where;
    const sampled = memory
      ? linesOf(finding, memory)
          .map((line) => memory.sampled.get(line))
          .filter(Boolean)
      : [];
    const [first, ...others] = finding.remedies;
    return [
      el("p", { class: "over" }, badge(finding.severity), " ", finding.verdict, ", ", finding.confidence, ", ", where),
      el("h2", {}, finding.names.join(" / ")),
      el("p", {}, finding.message),
      sampled.length ? this.measured(sampled) : null,
      heading("Do"),
      first ? this.remedy(first, finding) : el("p", {}, "No edit is proposed."),
      others.length
        ? el(
            "details",
            {},
            el("summary", {}, plural(others.length, "other edit")),
            others.map((one) => this.remedy(one, null)),
          )
        : null,
      finding.pictures.length ? heading("The line") : null,
      finding.pictures.map((picture) => this.picture(picture)),
      heading("Who accesses what"),
      this.participants(finding, memory),
      this.places(finding, memory),
      heading("Evidence"),
      el(
        "ul",
        {},
        finding.evidence.map(([kind, text]) => el("li", {}, el("b", {}, kind), ": ", text)),
      ),
      el("p", { class: "faint" }, "Link to this finding: ", el("a", { href: `#${finding.id}` }, finding.id)),
      this.rule(finding.rule),
    ];
  }

  measured(lines) {
    return el(
      "ul",
      { class: "measured" },
      lines.map((line) =>
        el(
          "li",
          {},
          `${percent(line.share)} of the sampled time on ${line.address}`,
          line.gain ? `; ${line.gain}` : "",
        ),
      ),
    );
  }

  remedy(remedy, finding) {
    return el(
      "div",
      { class: "remedy" },
      el("p", {}, remedy.text, " ", el("span", { class: "faint" }, `(${remedy.terms})`)),
      remedy.edit.length ? copyable(remedy.edit.join("\n"), true) : null,
      finding && remedy.fixes ? el("p", {}, "As a diff: ", copyable(`linemate fix ${finding.id}`)) : null,
    );
  }

  /** Bytes of one line; each owner has a letter, capital where it is hot. */
  picture({ title, size, slices, legend }) {
    const words = legend.map((entry) => `${entry.mark} ${entry.name}, bytes ${entry.bytes}`).join("; ");
    return el(
      "figure",
      {},
      el("figcaption", {}, title),
      bytesOf(slices, size, words),
      grid(
        "Owners of the bytes",
        ["mark", "name", "bytes", "hot", "what", "type", "declared"],
        legend.map((entry) => [
          el("b", { class: `owner${entry.color}` }, entry.mark),
          entry.name,
          el("span", { class: "whole" }, entry.bytes),
          el("span", { class: "whole" }, entry.hot),
          entry.role,
          entry.type,
          entry.source,
        ]),
      ),
    );
  }

  participants(finding, memory) {
    return finding.accesses.map(({ name, lines }) =>
      el(
        "div",
        {},
        el("h4", {}, name),
        facts(
          lines.map(([verb, functions]) =>
            fact(
              verb,
              few(functions, FUNCTIONS_SHOWN, (one) => this.links.function(memory, one)),
            ),
          ),
        ),
      ),
    );
  }

  /** Places in source and code: those of the finding, then those that the map has of its line. */
  places(finding, memory) {
    const lines = memory ? linesOf(finding, memory) : [];
    const start = lines.length ? BigInt(lines[0]) : 0n;
    const end = lines.length ? start + BigInt(lines.length * memory.lineSize) : 0n;
    const inside =
      memory?.data.excerpts.filter((one) => BigInt(one.address) >= start && BigInt(one.address) < end) ?? [];
    if (!finding.related.length && !inside.length) return null;
    return [
      heading("In source and code"),
      finding.related.length
        ? grid("Accesses in source", ["variable", "access", "function", "place", "locks"], finding.related)
        : null,
      few(inside, EXCERPTS_SHOWN, (one) => this.links.excerpt(one, memory)),
    ];
  }

  rule(id) {
    const text = this.rules[id];
    return text
      ? el("details", {}, el("summary", {}, `The rule ${id}`), el("pre", { tabindex: "0" }, text))
      : el("p", { class: "faint" }, `rule ${id}`);
  }
}
