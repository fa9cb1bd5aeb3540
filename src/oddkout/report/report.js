"use strict";
const root = document.documentElement;

// Methods on and off: whatever belongs to a method carries its name.
for (const box of document.querySelectorAll("input[data-toggles]")) {
  box.addEventListener("change", () => {
    for (const part of document.querySelectorAll("[data-method]")) {
      if (part.dataset.method === box.dataset.toggles) part.hidden = !box.checked;
    }
    for (const part of document.querySelectorAll("svg [data-series]")) {
      if (part.closest("figure").dataset.series.split(" ")[part.dataset.series] === box.dataset.toggles) {
        part.style.display = box.checked ? "" : "none";
      }
    }
  });
}

// As trained, or with a temperature.
for (const choice of document.querySelectorAll("input[name=kind]")) {
  choice.addEventListener("change", () => { root.dataset.kind = choice.value; });
}

// Light and dark: the system's wish, until the button is pressed.
const isDark = () => root.dataset.theme
  ? root.dataset.theme === "dark"
  : matchMedia("(prefers-color-scheme: dark)").matches;
const themeButton = document.getElementById("theme");
themeButton.addEventListener("click", () => { root.dataset.theme = isDark() ? "light" : "dark"; });

// The command goes to the clipboard, or is selected if the browser does not allow that.
const copyButton = document.getElementById("copy");
copyButton.addEventListener("click", async () => {
  const code = document.getElementById(copyButton.dataset.copies);
  try {
    await navigator.clipboard.writeText(code.textContent);
    copyButton.textContent = "Copied";
  } catch {
    getSelection().selectAllChildren(code);
    copyButton.textContent = "Selected";
  }
});

// Tables sort by the value of a column: better first, and on a second press worse first.
function sortBy(header) {
  const table = header.closest("table");
  const column = [...header.parentNode.children].indexOf(header);
  const first = header.dataset.first || "ascending";
  const second = first === "ascending" ? "descending" : "ascending";
  const order = header.getAttribute("aria-sort") === first ? second : first;
  for (const other of header.parentNode.children) other.removeAttribute("aria-sort");
  header.setAttribute("aria-sort", order);
  const sign = order === "ascending" ? 1 : -1;
  const body = table.tBodies[0];
  const valueOf = (row) => (row.cells[column] ? row.cells[column].dataset.value : undefined);
  const compared = (a, b) => {
    const [x, y] = [valueOf(a), valueOf(b)];
    if (x === undefined || y === undefined) return (x === undefined) - (y === undefined);
    const [p, q] = [Number(x), Number(y)];
    return sign * (Number.isNaN(p) || Number.isNaN(q) ? x.localeCompare(y) : p - q);
  };
  body.append(...[...body.rows].sort(compared));
}
for (const header of document.querySelectorAll("table.sortable th[data-first]")) {
  header.querySelector("button").addEventListener("click", () => sortBy(header));
}

// On paper nothing can be unfolded.
addEventListener("beforeprint", () => {
  for (const part of document.querySelectorAll("details")) part.open = true;
});
