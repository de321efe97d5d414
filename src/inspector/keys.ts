import { followEnd, moveTo, step, stepToMark } from "./model.ts";

/** Keys and their effect, as shown on the page. */
export const KEYS = [
  ["← →", "previous or next command"],
  ["Shift ← →", "previous or next trade"],
  ["Home", "go to the opening"],
  ["l", "go to the end and follow it"],
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

/** Focuses a field and selects its text, so that typing replaces it. */
function focusOn(id: string): void {
  const field = document.getElementById(id);
  if (field instanceof HTMLInputElement) field.select();
}

/** Handles keys on the page, except while the user types or chooses in a field. */
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
