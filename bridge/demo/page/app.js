// Wiring of the chat page: conversations, the composer, and one reply at a time.
import { Composer } from "./composer.js";
import { Thread } from "./thread.js";
import { events } from "./events.js";

const find = (id) => document.getElementById(id);
const thread = new Thread(find("thread"), find("scroll"));
const composer = new Composer(find("composer-form"), find("composer"), find("submit-slot"), send, stop);
let chat = null; // id of the conversation in view, null in a new chat
let reply = null; // AbortController of the reply that streams

async function api(path) {
  const response = await fetch(path);
  if (!response.ok) throw new Error((await response.json()).error);
  return response.json();
}

const unreachable = (error) =>
  error instanceof TypeError ? "The chat server cannot be reached. Is it still running?" : error.message;

async function send(text) {
  const fresh = chat === null;
  if (fresh) chat = crypto.randomUUID();
  const here = chat;
  const id = crypto.randomUUID();
  thread.dropErrors();
  thread.add({ id, role: "user", content: text });
  show();
  reply = new AbortController();
  composer.busy(true);
  try {
    await stream(here, id, text, reply, fresh);
  } catch (error) {
    if (error.name !== "AbortError" && chat === here) thread.error(unreachable(error));
  }
  if (chat === here) finish();
  list();
}

async function stream(here, id, text, controller, fresh) {
  const response = await fetch(`/api/conversations/${here}/messages`, {
    method: "POST",
    headers: { "Content-Type": "application/json", Accept: "text/event-stream" },
    body: JSON.stringify({ id, content: text }),
    signal: controller.signal,
  });
  if (!response.ok) throw new Error((await response.json()).error);
  if (fresh) {
    history.pushState(null, "", `/c/${here}`);
    list();
  }
  let done = false;
  for await (const batch of events(response.body)) {
    if (controller.signal.aborted) return;
    for (const data of batch) done = data === "[DONE]" || (thread.chunk(JSON.parse(data)), done);
    thread.paint();
  }
  if (!done) throw new Error("The connection broke off in the middle of the reply.");
}

function finish() {
  reply = null;
  thread.finish();
  composer.busy(false);
}

function stop() {
  reply?.abort();
}

function show() {
  find("welcome").hidden = thread.size > 0;
  const title = find("conversations").querySelector("[aria-current]")?.textContent;
  find("title").textContent = title ?? "New chat";
}

async function list() {
  const { conversations } = await api("/api/conversations").catch(() => ({ conversations: null }));
  if (conversations === null) return; // the error shows where the user acts: in the thread
  const entries = conversations.map(({ id, title }) => {
    const link = Object.assign(document.createElement("a"), { href: `/c/${id}`, textContent: title, title });
    link.dataset.local = "";
    if (id === chat) link.setAttribute("aria-current", "page");
    const entry = document.createElement("li");
    entry.append(link);
    return entry;
  });
  find("conversations").replaceChildren(...entries);
  show();
}

async function open() {
  stop();
  reply = null;
  chat = /^\/c\/([\w-]+)$/.exec(location.pathname)?.[1] ?? null;
  const here = chat;
  thread.clear();
  composer.busy(false);
  try {
    const messages = here === null ? [] : (await api(`/api/conversations/${here}`)).messages;
    if (chat === here) messages.forEach((message) => thread.add(message));
  } catch (error) {
    if (chat === here) thread.error(unreachable(error));
  }
  await list();
  show();
  composer.focus();
}

document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-local]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  history.pushState(null, "", link.href);
  open();
});
window.addEventListener("popstate", open);
open();
