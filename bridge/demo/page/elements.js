// Small makers of elements. Text always goes in as text, never as markup.
const ICONS = {
  send: "M12 19V5m-6 6 6-6 6 6",
  stop: "M7 7h10v10H7z",
  copy: "M9 9h10v11H9zM5 15V4h10",
  check: "m5 13 4 4L19 7",
};
const SVG = "http://www.w3.org/2000/svg";

export function element(name, className, ...children) {
  const made = document.createElement(name);
  if (className) made.className = className;
  made.append(...children);
  return made;
}

function icon(name) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", ICONS[name]);
  svg.append(path);
  return svg;
}

export function button(label, name, action) {
  const made = element("button", `icon ${name}`, icon(name));
  made.type = "button";
  made.setAttribute("aria-label", label);
  made.title = label;
  made.addEventListener("click", action);
  return made;
}

// A button that copies what `text()` gives, and shows for a moment that it did.
export function copyButton(label, text) {
  const made = button(label, "copy", async () => {
    await navigator.clipboard.writeText(text());
    made.replaceChildren(icon("check"));
    setTimeout(() => made.replaceChildren(icon("copy")), 1200);
  });
  return made;
}
