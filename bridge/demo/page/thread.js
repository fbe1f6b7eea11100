// The messages in view: user bubbles as typed, replies as Markdown that grows with the stream.
import { copyButton, element } from "./elements.js";
import { Markdown } from "./markdown.js";

export class Thread {
  constructor(root, scroller) {
    Object.assign(this, { root, scroller, open: null, pinned: true });
    scroller.addEventListener("scroll", () => {
      this.pinned = scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight < 60;
    });
  }

  get size() {
    return this.root.childElementCount;
  }

  clear() {
    this.open = null;
    this.root.replaceChildren();
  }

  // Show a whole message.
  add({ id, role, content }) {
    if (role === "assistant") {
      this.begin(id);
      this.append(content);
      this.finish();
      return;
    }
    this.pinned = true;
    this.message(id, role, element("div", "content", content));
    this.settle();
  }

  message(id, role, body) {
    const article = element("article", `message ${role}`, body);
    article.dataset.messageId = id;
    article.dataset.messageAuthorRole = role;
    this.root.append(article);
    return article;
  }

  // Take one chunk of the reply that streams; its first chunk opens the message.
  chunk({ id, choices }) {
    if (this.open === null) this.begin(id);
    this.append(choices[0].delta.content ?? "");
  }

  begin(id) {
    const body = element("div", "content markdown");
    const article = this.message(id, "assistant", body);
    article.classList.add("streaming");
    this.open = { article, text: "", fresh: "", markdown: new Markdown(body) };
  }

  append(text) {
    this.open.text += text;
    this.open.fresh += text;
  }

  // Render what came since the last time: once for each network read, however many chunks it held.
  paint() {
    if (this.open === null) return;
    this.open.markdown.feed(this.open.fresh);
    this.open.fresh = "";
    this.settle();
  }

  finish() {
    if (this.open === null) return;
    this.paint();
    const { article, text, markdown } = this.open;
    this.open = null;
    markdown.close();
    article.classList.remove("streaming");
    article.append(element("div", "actions", copyButton("Copy message", () => text)));
    this.settle();
  }

  error(text) {
    const alert = element("div", "error", text);
    alert.setAttribute("role", "alert");
    this.root.append(alert);
    this.pinned = true;
    this.settle();
  }

  dropErrors() {
    this.root.querySelectorAll("[role=alert]").forEach((alert) => alert.remove());
  }

  settle() {
    if (this.pinned) this.scroller.scrollTop = this.scroller.scrollHeight;
  }
}
