import { followEnd, moveTo, step, stepToMark } from "./model.ts";

/** What keys do, as the page tells it. */
export const KEYS = [
  ["← →", "a command back or forth"],
  ["Shift ← →", "the trade before or after"],
  ["Home", "the opening"],
  ["l", "the end, and follow it"],
  ["g", "go to a sequence"],
  ["/", "filter the journal"],
] as const;

const BY_KEY: Readonly<Record<string, (event: KeyboardEvent) => void>> = {
  ArrowLeft: ({ shiftKey }) => (shiftKey ? stepToMark(-1) : step(-1)),
  ArrowRight: ({ shiftKey }) => (shiftKey ? stepToMark(1) : step(1)),
  Home: () => moveTo(0),
  l: followEnd,
  g: () => focusOn("go-to"),
  "/": () => focusOn("filter"),
};

/** What stands in a field already is typed over. */
function focusOn(id: string): void {
  const field = document.getElementById(id);
  if (field instanceof HTMLInputElement) field.select();
}

/** Keys move the cursor wherever nobody types or chooses. */
export function listenToKeys(): void {
  document.addEventListener("keydown", (event) => {
    const { target, key, ctrlKey, metaKey, altKey } = event;
    if (ctrlKey || metaKey || altKey) return;
    const isTyping =
      target instanceof HTMLElement && ["INPUT", "TEXTAREA", "SELECT"].includes(target.tagName);
    if (isTyping) {
      if (key === "Escape") target.blur();
      return;
    }
    const act = BY_KEY[key];
    if (act === undefined) return;
    event.preventDefault();
    act(event);
  });
}
