// Runs in Tabferry's own isolated world of the chat page's main frame: the page can neither see nor call any of it.
// Reports what changed through a binding of that world, and answers the driver's questions. Everything is looked up
// anew each time, because pages replace their composer and their buttons while one looks.
(config) => {
  if (window !== window.top || globalThis.tabferry) return;

  const visible = (el) => el.checkVisibility({ visibilityProperty: true, opacityProperty: false });
  const all = (selectors) => {
    for (const selector of selectors) {
      const found = [...document.querySelectorAll(selector)];
      if (found.length) return found;
    }
    return [];
  };
  const first = (selectors) => {
    for (const selector of selectors) {
      for (const el of document.querySelectorAll(selector)) if (visible(el)) return el;
    }
    return null;
  };
  const composer = () => first(config.composer);
  const enabled = (el) => !el.disabled && el.getAttribute("aria-disabled") !== "true";

  const tidy = (text) => text.replace(/\r\n?/g, "\n").replace(/\u00a0/g, " ").replace(/\u200b|\ufeff/g, "");
  const BLOCK = /^(DIV|P|LI|UL|OL|PRE|BLOCKQUOTE|H[1-6])$/;
  // What an editor holds, line for line: a block is a line, and a line break that ends a block only keeps it open.
  // (innerText counts an empty block twice.)
  const lines = (root) => {
    let text = "";
    let started = false;
    let broken = false;
    const put = (more) => {
      text += (broken ? "\n" : "") + more;
      broken = false;
      started = true;
    };
    const walk = (node) => {
      for (const child of node.childNodes) {
        if (child.nodeType === Node.TEXT_NODE) {
          if (child.data) put(child.data);
        } else if (child.nodeName === "BR") {
          put(child.nextSibling ? "\n" : "");
        } else {
          const block = BLOCK.test(child.nodeName);
          if (block) broken = started;
          walk(child);
          if (block) broken = started;
        }
      }
    };
    walk(root);
    return text;
  };
  const typed = (el) => ("value" in el ? el.value : lines(el));

  const messageId = (el, index) => (config.id && el.getAttribute(config.id)) || `#${index}`;
  const userIds = () => all(config.user).map(messageId);

  const state = () => {
    const box = composer();
    const busy = first(config.stop) !== null;
    const send = first(config.send);
    return {
      url: location.href,
      composer: box !== null,
      busy,
      ready: box !== null && !busy && (config.send.length === 0 || send !== null),
      users: all(config.user).length,
      login: first(config.login) !== null,
      alert: (first(config.alert)?.innerText ?? "").slice(0, 300),
    };
  };

  let last = "";
  const waiters = new Set();
  const push = () => {
    const now = JSON.stringify(state());
    if (now !== last) {
      last = now;
      globalThis[config.binding]?.(now);
    }
    for (const waiter of [...waiters]) waiter();
  };

  // A busy page changes hundreds of times a second, and each look costs it time. So there is one at most every
  // SOON_MS; whether something is visible (which costs a layout) is asked at once only when a control came, went or was
  // switched, and for all that happened otherwise once, LATER_MS after it.
  const SOON_MS = 4;
  const LATER_MS = 20;
  const controls = [config.composer, config.send, config.stop].filter((selectors) => selectors.length);
  let known = [];
  let lookedAt = 0;
  let soon = 0;
  let later = 0;
  const look = () => {
    soon = 0;
    lookedAt = performance.now();
    const found = controls.map((selectors) => document.querySelector(selectors.join(", ")));
    const marks = [...found, ...found.map((el) => el?.disabled), all(config.user).length];
    const same = marks.every((mark, index) => mark === known[index]);
    known = marks;
    clearTimeout(later);
    if (same) later = setTimeout(push, LATER_MS);
    else push();
  };
  const changed = () => {
    if (soon) return;
    const wait = lookedAt + SOON_MS - performance.now();
    if (wait <= 0) look();
    else soon = setTimeout(look, wait);
  };
  const until = (probe) =>
    new Promise((resolve) => {
      const look = () => {
        const answer = probe();
        if (answer === null) return;
        waiters.delete(look);
        resolve(answer);
      };
      waiters.add(look);
      look();
    });

  const clear = (el) => {
    el.focus();
    if ("value" in el) el.select();
    else getSelection().selectAllChildren(el);
    document.execCommand("delete");
  };

  const ownBubble = (before) => {
    const known = new Set(before);
    const ids = userIds();
    const index = ids.findIndex((id) => !known.has(id));
    return index < 0 ? null : { id: ids[index], ordinal: index };
  };

  // The reply to a message is what stands between its bubble and the next bubble of the user.
  const replyTo = (ordinal) => {
    const users = all(config.user);
    const from = users[ordinal];
    const next = users[ordinal + 1];
    if (!from) return [];
    const after = (a, b) => Boolean(a.compareDocumentPosition(b) & Node.DOCUMENT_POSITION_FOLLOWING);
    return all(config.assistant).filter((el) => after(from, el) && (!next || after(el, next)));
  };
  const readReply = (ordinal) => {
    const parts = replyTo(ordinal);
    const blocks = parts.flatMap((el) => [...el.querySelectorAll("pre code, pre:not(:has(code))")]);
    const whole = blocks.filter((el) => !el.closest(".cm-editor, .monaco-editor"));
    return {
      code: whole.map((el) => el.textContent).join("\n"),
      blocks: blocks.length,
      rendered: parts.map((el) => el.innerText).join("\n"),
    };
  };

  // What stands in the composer against what was meant; waits until the page offers to send it.
  const landed = async (meant) => {
    const box = composer();
    const got = box ? tidy(typed(box)) : "";
    const miss = { ok: false, origin: location.origin, got: got.length, meant: meant.length };
    if (!box || got !== tidy(meant)) return miss;
    const button = await until(() => {
      if (config.send.length === 0) return {};
      const send = first(config.send);
      if (!send || !enabled(send) || first(config.stop)) return null;
      const { x, y, width, height } = send.getBoundingClientRect();
      return { x: x + width / 2, y: y + height / 2 };
    });
    // The Enter that follows goes to whatever has the focus, so the composer must have it.
    box.focus();
    const focus = document.activeElement;
    return box === focus || box.contains(focus) ? { ok: true, origin: location.origin, ...button } : miss;
  };

  globalThis.tabferry = {
    state,
    // What must hold before a character is typed, and then the typing itself, in one go: nothing of the page runs
    // between the look and the insertion. Without `insert` the driver inserts, and asks `landed` afterwards.
    type: async (meant, insert) => {
      const box = composer();
      const draft = box ? tidy(typed(box)) : "";
      const page = { ...state(), origin: location.origin, draft, before: userIds() };
      if (!page.ready || page.login || draft.trim() || !config.origins.includes(page.origin)) return page;
      box.focus();
      if (!insert || !document.execCommand("insertText", false, meant)) return page;
      return { ...page, landed: await landed(meant) };
    },
    landed,
    clear: () => {
      const box = composer();
      if (box) clear(box);
      return box !== null;
    },
    accepted: (before) => until(() => ownBubble(before)),
    look: (before) => {
      const box = composer();
      return { bubble: ownBubble(before), composer: box !== null, draft: box ? tidy(typed(box)) : "" };
    },
    origin: () => location.origin,
    readReply,
    quiet: (ordinal, ms) =>
      new Promise((resolve) => {
        let seen = null;
        let timer = 0;
        const watch = () => {
          const text = readReply(ordinal).rendered;
          if (text === seen && !first(config.stop)) return;
          seen = text;
          clearTimeout(timer);
          timer = setTimeout(() => {
            if (first(config.stop) || !text.trim()) return;
            waiters.delete(watch);
            resolve(readReply(ordinal));
          }, ms);
        };
        waiters.add(watch);
        watch();
      }),
    stop: () => {
      const button = first(config.stop);
      button?.click();
      return button !== null;
    },
  };

  const start = () => {
    new MutationObserver(changed).observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
    push();
  };
  if (document.documentElement) start();
  else document.addEventListener("readystatechange", start, { once: true });
  document.addEventListener("readystatechange", push);
  addEventListener("popstate", push);
}
