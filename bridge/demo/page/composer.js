// The message field: plain text kept exactly as typed or pasted; Enter sends; Send is replaced by Stop.
import { button } from "./elements.js";

const BLOCKS = new Set(["DIV", "P"]);

// What the field says, newline for newline. The browser writes a line break as "\n", as <br>, or as a block, and
// closes a text that ends in a break with one more, which is not part of it.
function textOf(root) {
  let text = "";
  const walk = (node) => {
    for (const child of node.childNodes) {
      if (child.nodeType === Node.TEXT_NODE) text += child.data;
      else if (child.nodeName === "BR") text += "\n";
      else {
        if (BLOCKS.has(child.nodeName) && text && !text.endsWith("\n")) text += "\n";
        walk(child);
      }
    }
  };
  walk(root);
  return text.endsWith("\n") ? text.slice(0, -1) : text;
}

export class Composer {
  constructor(form, field, slot, send, stop) {
    Object.assign(this, { field, slot, onSend: send });
    this.sendButton = button("Send message", "send", () => this.submit());
    this.stopButton = button("Stop generating", "stop", stop);
    form.addEventListener("submit", (event) => event.preventDefault());
    field.addEventListener("input", () => this.update());
    field.addEventListener("keydown", (event) => this.key(event));
    this.busy(false);
  }

  get text() {
    return textOf(this.field);
  }

  key(event) {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    this.submit();
  }

  submit() {
    const { text } = this;
    if (this.streaming || text.trim() === "") return;
    this.field.replaceChildren();
    this.onSend(text);
  }

  update() {
    const empty = this.field.textContent === "" && !this.field.querySelector("br + br");
    this.field.classList.toggle("empty", empty);
    this.sendButton.disabled = this.field.textContent.trim() === "";
  }

  busy(streaming) {
    this.streaming = streaming;
    this.slot.replaceChildren(streaming ? this.stopButton : this.sendButton);
    this.update();
  }

  focus() {
    this.field.focus();
  }
}
