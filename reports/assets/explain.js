// The page of two builds: a slider moves the boxes of a pair from their old places to the new ones.

for (const picture of document.querySelectorAll(".picture")) {
  const boxes = [...picture.querySelectorAll("[data-old]")];
  if (!boxes.length) continue;
  const slider = el("input", { type: "range", min: "0", max: "100", value: "0", "aria-label": "From the old layout to the new one" });
  slider.addEventListener("input", () => {
    const share = Number(slider.value) / 100;
    for (const box of boxes) {
      const old = Number(box.dataset.old);
      box.setAttribute("x", String(old + share * (Number(box.dataset.new) - old)));
    }
  });
  picture.classList.add("live");
  picture.before(el("div", { class: "slide" }, "old", slider, "new"));
}
byId("app").prepend(el("nav", { "aria-label": "Page" }, themeButton()));
