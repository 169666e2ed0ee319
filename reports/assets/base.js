// What all pages use: making elements, reading the page's data, numbers as text, theme and help.

/** What becomes a child of an element: lists in lists as one, without what is left out. */
const nodes = (children) =>
  children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false && child !== "");

/** An element. Text becomes text nodes, so that no name is ever read as markup. */
function el(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (name === "class") made.className = value;
    else made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...nodes(children));
  return made;
}

const byId = (id) => document.getElementById(id);
const number = new Intl.NumberFormat("en");
const plural = (count, noun) => `${number.format(count)} ${noun}${count === 1 ? "" : "s"}`;
const hex = (value) => `0x${value.toString(16)}`;
const byteRange = (start, end) => (end - start > 1 ? `${start}–${end - 1}` : String(start));
const percent = (share) => `${(100 * share).toPrecision(share >= 0.1 ? 3 : 2)} %`;

/** The data that the page carries: JSON, compressed by zlib, in base 64. */
async function pageData() {
  const text = atob(byId("data").textContent);
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).json();
}

/** A button that changes between the system's colours, light and dark. */
function themeButton() {
  const themes = ["system", "light", "dark"];
  let at = 0;
  const button = el("button", { type: "button", class: "quiet", title: "Colours: as the system, light or dark" });
  const show = () => {
    button.textContent = `Colours: ${themes[at]}`;
    if (at) document.documentElement.dataset.theme = themes[at];
    else delete document.documentElement.dataset.theme;
    document.dispatchEvent(new Event("themechange"));
  };
  button.addEventListener("click", () => {
    at = (at + 1) % themes.length;
    show();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", show);
  show();
  return button;
}

const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

/** Text with a button that copies it, where the browser lets a page do so. */
function copyable(text, multiline = false) {
  const shown = el(multiline ? "pre" : "code", multiline ? { tabindex: "0" } : {}, text);
  if (!navigator.clipboard) return shown;
  const button = el(
    "button",
    { type: "button", class: "quiet copy", "aria-label": `Copy: ${text.slice(0, 60)}` },
    "copy",
  );
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = "copied";
    } catch {
      getSelection().selectAllChildren(shown);
    }
  });
  return el("span", { class: multiline ? "copyable block" : "copyable" }, shown, button);
}

/** What stands behind the # of the page's address, decoded; as it is where that is no encoding. */
function addressed(hash) {
  try {
    return decodeURIComponent(hash.replace(/^#/, ""));
  } catch {
    return hash.replace(/^#/, "");
  }
}

const typing = (target) => target.closest?.("input, select, textarea, dialog[open]") !== null;

/** Dialog of keys, and the button that opens it; rows are [key, what it does]. */
function helpButton(rows) {
  const close = el("button", { type: "button" }, "Close");
  const list = el(
    "dl",
    { class: "keys" },
    rows.map(([key, text]) => [el("dt", {}, el("kbd", {}, key)), el("dd", {}, text)]),
  );
  const dialog = el("dialog", { "aria-labelledby": "keys" }, el("h2", { id: "keys" }, "Keys"), list, close);
  close.addEventListener("click", () => dialog.close());
  document.body.append(dialog);
  const open = () => dialog.open || dialog.showModal();
  document.addEventListener("keydown", (event) => {
    if (event.key === "?" && !typing(event.target)) {
      event.preventDefault();
      open();
    }
  });
  return el("button", { type: "button", class: "quiet", onclick: open }, "Keys ?");
}

/** A list that shows the first few and a button for the rest. */
function few(items, most, make) {
  const list = el(
    "ul",
    { class: "plain" },
    items.slice(0, most).map((item) => el("li", {}, make(item))),
  );
  if (items.length > most) {
    const more = el("button", { type: "button", class: "quiet" }, `${number.format(items.length - most)} more`);
    more.addEventListener("click", () => {
      more.replaceWith();
      list.append(...items.slice(most, most + 2000).map((item) => el("li", {}, make(item))));
    });
    return [list, more];
  }
  return [list];
}
