/** What models and repositories write is shown as it is, never interpreted. */

const LABEL_CHARACTERS = 120; // a notification is one glance; the whole text is in the diff and the output channel
// Control, bidirectional and invisible characters can make one name look like another.
const DECEPTIVE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu;

/** One short line of `text` for notifications, titles and pickers, where `[a](b)` and `$(icon)` would become active. */
export function inert(text: string, limit: number = LABEL_CHARACTERS): string {
  const plain = text.replace(DECEPTIVE, " ").replaceAll("](", "] (").replaceAll("$(", "$ (").trim();
  const characters = Array.from(plain);
  return characters.length <= limit ? plain : `${characters.slice(0, limit - 1).join("")}…`;
}
