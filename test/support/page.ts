/** A text of a page: `### heading`, an opening, then each time `## title` and texts, each followed by lines of `> `. */
export interface PageText {
  readonly heading: string;
  readonly opening: string;
  readonly text: string;
}

type Lines = readonly string[];

const HEADING = /^### (.*)\n((?:(?!## ).*\n)*)/;
const TITLE_OR_TEXT = /^## .*\n|((?:^(?!> |## ).*\n)+)(?:^> .*\n)*/gm;

/** Returns a page with other lines after each of its texts. */
export async function pageWith(
  page: string,
  linesOf: (text: PageText) => Lines | Promise<Lines>,
): Promise<string> {
  const [head = "", ...sections] = page.split(/^(?=### )/m);
  const pieces = [head];
  for (const section of sections) {
    const [start = "", heading = "", opening = ""] = HEADING.exec(section) ?? [];
    pieces.push(start);
    for (const [whole, text] of section.slice(start.length).matchAll(TITLE_OR_TEXT)) {
      pieces.push(text ?? whole);
      const lines = text === undefined ? [] : await linesOf({ heading, opening, text });
      pieces.push(...lines.map((line) => `> ${line}\n`));
    }
  }
  return pieces.join("");
}

/** Returns the texts of a page. */
export async function textsOf(page: string): Promise<PageText[]> {
  const texts: PageText[] = [];
  await pageWith(page, (text) => {
    texts.push(text);
    return [];
  });
  return texts;
}
