// What leads from one thing of a report to another: links, the findings on a line, the lines of a finding.

const MOST_LINES = 64; // of one finding or variable

/** Links to lines, variables and functions of the maps. */
class Links {
  constructor(memories, findings) {
    this.memories = memories;
    this.findings = findings;
  }

  mapOf(finding) {
    return this.memories.find((memory) => memory.data.target === finding.target) ?? null;
  }

  line(section, line, text) {
    const address = section.address(section.offsetOf(line));
    return el("a", { href: `#${lineHash(section, line)}` }, text ?? `line ${address}`);
  }

  function(memory, name) {
    const known = memory?.functionNumber.has(name);
    return known ? el("a", { href: `#${functionHash(memory, name)}` }, name) : name;
  }

  variable(variable, text) {
    return el("a", { href: `#${variableHash(variable)}` }, text ?? variable.name);
  }

  /** Findings that have bytes of this line. */
  findingsOn(section, line) {
    const address = section.start + BigInt(section.offsetOf(line)),
      size = BigInt(section.lineSize);
    return this.findings.filter((finding) => {
      if (this.mapOf(finding) !== section.memory || !finding.line) return false;
      const start = BigInt(finding.line);
      return start < address + size && start + BigInt(finding.size) > address;
    });
  }

  /** A function's access: its place in source and the lines and instructions around it, as far as the page has them. */
  excerpt(one, memory) {
    const place = memory.at(one.address);
    const wanted = Number(one.source.slice(one.source.lastIndexOf(":") + 1));
    const numbered = one.text.map((text, at) => [one.first + at, text]);
    return [
      [this.function(memory, one.function), ": "],
      place ? memory.nameAt(place.section, place.offset) : one.address,
      one.source ? [" at ", el("code", {}, one.source)] : null,
      numbered.length ? this.listing(numbered, wanted) : null,
      one.code.length ? this.listing(one.code, one.ip) : null,
    ];
  }

  /** Lines of [place, text], of which the wanted one stands out. */
  listing(lines, wanted) {
    const width = Math.max(...lines.map(([place]) => String(place).length));
    return el(
      "pre",
      { class: "source", tabindex: "0" },
      lines.map(([place, text]) =>
        el("span", { class: place === wanted ? "wanted" : "" }, `${String(place).padStart(width)}  ${text}\n`),
      ),
    );
  }
}

/** Addresses of the lines that a finding is about. */
function linesOf(finding, memory) {
  if (!finding.line) return [];
  const first = BigInt(finding.line),
    size = BigInt(memory.lineSize);
  const out = [];
  for (let at = first - (first % size); at < first + BigInt(finding.size) && out.length < MOST_LINES; at += size)
    out.push(hex(at));
  return out;
}
