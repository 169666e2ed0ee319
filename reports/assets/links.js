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

  /** A place in source and the lines around it, where the page has them. */
  excerpt(one, memory) {
    const lead = [el("code", {}, one.source), " ", this.function(memory, one.function)];
    if (!one.text.length) return lead;
    const wanted = Number(one.source.slice(one.source.lastIndexOf(":") + 1));
    return [
      lead,
      el(
        "pre",
        { class: "source", tabindex: "0" },
        one.text.map((text, at) =>
          el(
            "span",
            { class: one.first + at === wanted ? "wanted" : "" },
            `${String(one.first + at).padStart(5)} ${text}\n`,
          ),
        ),
      ),
    ];
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
