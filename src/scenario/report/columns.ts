/** Columns of a terminal that a report fills at most. */
export const WIDTH = 100;

const ASCII = /^[\x20-\x7e]*$/;
const NARROWEST = /^[\p{Mark}\p{Cf}]$/u;
/** East Asian Width W and F (Unicode annex 11), and emoji. */
const WIDE =
  /^(?:\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6]|[\u{1f300}-\u{1faff}]|[\u{20000}-\u{3fffd}])$/u;

function columnsOfCharacter(character: string): number {
  if (NARROWEST.test(character)) return 0;
  return WIDE.test(character) ? 2 : 1;
}

/** How many columns a visible text fills. */
export function columnsOf(text: string): number {
  if (ASCII.test(text)) return text.length;
  let columns = 0;
  for (const character of text) columns += columnsOfCharacter(character);
  return columns;
}

/** Adds blanks at the end, up to a number of columns. */
export const padded = (text: string, columns: number): string =>
  text + " ".repeat(Math.max(0, columns - columnsOf(text)));

/** The end of a text that is too long, after an ellipsis. */
export function endOf(text: string, width: number): string {
  if (columnsOf(text) <= width) return text;
  const kept: string[] = [];
  let columns = 1;
  for (const character of [...text].reverse()) {
    columns += columnsOfCharacter(character);
    if (columns > width) break;
    kept.push(character);
  }
  return `…${kept.reverse().join("")}`;
}

/** A visible text as lines of at most `width` columns, broken at blanks, or within a word that is longer. */
export function wrapped(text: string, width: number): string[] {
  if (columnsOf(text) <= width) return [text.trimEnd()];
  const lines: string[] = [];
  let line = "";
  let columns = 0;
  const endLine = (): void => {
    lines.push(line.trimEnd());
    line = "";
    columns = 0;
  };
  for (const word of text.split(/(?<= )(?! )/)) {
    const wordColumns = columnsOf(word.trimEnd());
    if (columns + wordColumns > width && line.trim() !== "") endLine();
    if (columns + wordColumns <= width) {
      line += word;
      columns += columnsOf(word);
      continue;
    }
    for (const character of word) {
      const wanted = columnsOfCharacter(character);
      if (columns + wanted > width) endLine();
      line += character;
      columns += wanted;
    }
  }
  if (line.trim() !== "") endLine();
  return lines;
}

/** A visible text behind a label, its further lines under its own beginning. */
export function hung(label: string, text: string, width: number): string[] {
  const indent = columnsOf(label);
  return wrapped(text, width - indent).map((line, index) =>
    `${index === 0 ? label : " ".repeat(indent)}${line}`.trimEnd(),
  );
}

/** The same lines further to the right. */
export const indented = (lines: readonly string[], columns: number): string[] =>
  lines.map((line) => (line === "" ? "" : `${" ".repeat(columns)}${line}`));
