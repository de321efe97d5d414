import type { Page } from "./page.ts";

/** Notes a word that will mean something once trades settle on a chain, and until then means nothing. */
export const notYet = (page: Page, at: number, word: string): null =>
  page.wrong(at, `"${word}" is not available yet: it comes with the settlement chain`);
