// Streaming Markdown: only the open block is ever drawn again. Built from text nodes, so no reply can become markup.
import { copyButton, element } from "./elements.js";

const FENCE = /^ {0,3}(`{3,}|~{3,})\s*([^`]*)$/;
const HEADING = /^(#{1,6})\s+(.*)$/;
const ITEM = /^\s*(?:[-*+]|(\d{1,9})[.)])\s+(.*)$/;
const MARKER = /^\s*(?:[`~#*+-]|\d+[.)]?\s*$|$)/; // a line that may still turn into something else than prose
const INLINE = /(`+)(?!`)([^]*?[^`])\1(?!`)|\*\*(?=\S)([^]*?\S)\*\*/g;
const LIVE_CHARACTERS = 4000; // a longer paragraph waits for its end: drawing it again for each chunk is quadratic

function inline(target, text) {
  const parts = [];
  let at = 0;
  for (const match of text.matchAll(INLINE)) {
    parts.push(text.slice(at, match.index));
    if (match[1]) parts.push(element("code", "", match[2]));
    else parts.push(element("strong", "", match[3]));
    at = match.index + match[0].length;
  }
  target.replaceChildren(...parts, text.slice(at));
}

class Prose {
  constructor(root, name, source = "") {
    this.node = element(name);
    this.source = source;
    root.append(this.node);
  }

  add(line) {
    this.source += (this.source && "\n") + line;
  }

  draw(tail = "") {
    const text = this.source + (this.source && tail && "\n") + tail;
    if (text.length < LIVE_CHARACTERS) inline(this.node, text);
  }

  close() {
    inline(this.node, this.source);
  }
}

class List {
  constructor(root, number) {
    this.node = element(number === undefined ? "ul" : "ol");
    if (number !== undefined) this.node.start = Number(number);
    this.items = [];
    root.append(this.node);
  }

  item(text) {
    this.items.at(-1)?.close();
    this.items.push(new Prose(this.node, "li", text));
  }

  add(line) {
    this.items.at(-1).add(line.trim());
  }

  draw(tail = "") {
    this.items.at(-1).draw(tail);
  }

  close() {
    this.items.at(-1).close();
  }
}

class Code {
  constructor(root, fence, language) {
    this.closing = new RegExp(`^ {0,3}${fence[0]}{${fence.length},}\\s*$`);
    this.maybeClosing = new RegExp(`^ {0,3}${fence[0]}*\\s*$`);
    this.done = new Text();
    this.tail = new Text();
    this.empty = true;
    const code = element("code", "", this.done, this.tail);
    if (language) code.className = `language-${language}`;
    const copy = copyButton("Copy code", () => this.done.data);
    const head = element("div", "code-head", element("span", "", language || "text"), copy);
    root.append(element("div", "code-block", head, element("pre", "", code)));
  }

  add(line) {
    this.done.appendData(this.empty ? line : `\n${line}`);
    this.tail.data = "";
    this.empty = false;
  }

  draw(tail = "") {
    this.tail.data = this.maybeClosing.test(tail) ? "" : (this.empty ? "" : "\n") + tail;
  }

  close() {
    this.tail.data = "";
  }
}

export class Markdown {
  constructor(root) {
    Object.assign(this, { root, block: null, partial: "" });
  }

  feed(text) {
    const lines = (this.partial + text).split("\n");
    this.partial = lines.pop();
    lines.forEach((line) => this.line(line.replace(/\r$/, "")));
    this.preview();
  }

  close() {
    if (this.partial) this.line(this.partial);
    this.partial = "";
    this.end();
  }

  end() {
    this.block?.close();
    this.block = null;
  }

  line(line) {
    if (this.block instanceof Code) {
      if (this.block.closing.test(line)) this.end();
      else this.block.add(line);
    } else if (line.trim() === "") {
      if (!(this.block instanceof List)) this.end();
    } else this.start(line);
  }

  start(line) {
    let match;
    if ((match = FENCE.exec(line))) {
      this.end();
      this.block = new Code(this.root, match[1], match[2].trim().split(/\s/)[0]);
    } else if ((match = HEADING.exec(line))) {
      this.end();
      new Prose(this.root, `h${Math.min(match[1].length + 2, 6)}`, match[2]).close();
    } else if ((match = ITEM.exec(line))) {
      this.listFor(match[1]).item(match[2]);
    } else {
      if (this.block instanceof List && !/^\s/.test(line)) this.end();
      this.block ??= new Prose(this.root, "p");
      this.block.add(line);
    }
  }

  listFor(number) {
    const name = number === undefined ? "UL" : "OL";
    if (!(this.block instanceof List) || this.block.node.nodeName !== name) {
      this.end();
      this.block = new List(this.root, number);
    }
    return this.block;
  }

  preview() {
    if (this.block instanceof Code) this.block.draw(this.partial);
    else if (MARKER.test(this.partial)) this.block?.draw();
    else if (this.block instanceof List) this.block.draw();
    else {
      this.block ??= new Prose(this.root, "p");
      this.block.draw(this.partial);
    }
  }
}
