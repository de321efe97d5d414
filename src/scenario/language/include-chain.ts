import type { Page } from "./page.ts";

const MOST_LEVELS = 16;
/** In all, so that files which include one another many times come to an end. */
const MOST_INCLUDES = 1_000;

/** The files under way: the scenario's, and each that is included by the one before. */
export class IncludeChain {
  readonly #links: { readonly path: string; readonly name: string }[];
  #includes = 0;

  constructor(path: string, name: string) {
    this.#links = [{ path, name }];
  }

  /** Reads what a file holds, unless it is under way already, or too much is. */
  within(page: Page, at: number, path: string, name: string, read: () => void): void {
    this.#includes += 1;
    const chain = (): string => [...this.#links, { name }].map((link) => link.name).join(" → ");
    if (this.#links.some((link) => link.path === path))
      page.wrong(at, `the file includes itself: ${chain()}`);
    else if (this.#links.length > MOST_LEVELS)
      page.wrong(at, `more than ${MOST_LEVELS} levels of include: ${chain()}`);
    else if (this.#includes > MOST_INCLUDES) page.wrong(at, `more than ${MOST_INCLUDES} times include`);
    else {
      this.#links.push({ path, name });
      read();
      this.#links.pop();
    }
  }
}
