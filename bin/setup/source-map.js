const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const VALUES = new Map(Array.from(DIGITS, (digit, value) => [digit.charCodeAt(0), value]));
const MORE = 32;
/** Source, line and column. */
const FIELDS = [0, 1, 2];

/** Whether a source belongs to a package or replaces one. */
const isVendored = (source) => /node_modules\/|stub:/.test(source);

/**
 * Removes vendored sources from the text of a source map, and names, which are not minified; returns null if nothing is
 * left.
 */
export function ownSourceMap(text) {
  const map = JSON.parse(text);
  const own = map.sources.map((source) => !isVendored(source));
  if (!own.includes(true)) return null;
  const numbers = own.map((isOwn, index) => (isOwn ? own.slice(0, index).filter(Boolean).length : null));
  const sources = map.sources.filter((_, index) => own[index]);
  const mappings = ownMappings(map.mappings, numbers);
  return JSON.stringify({ ...map, sources, names: [], mappings });
}

/** @param numbers new number of each source; null if it is removed */
function ownMappings(mappings, numbers) {
  /** Last source, line and column of the read and the written mappings, which are relative to them. */
  const read = [0, 0, 0];
  let written = [0, 0, 0];
  const lineOf = (line) => {
    const segments = [];
    let [columnRead, columnWritten] = [0, 0];
    let isWithin = true;
    for (const segment of line === "" ? [] : line.split(",")) {
      const [columns, ...position] = decode(segment);
      columnRead += columns;
      if (position.length > 0) for (const at of FIELDS) read[at] += position[at];
      const number = position.length === 0 ? null : numbers[read[0]];
      // One segment without a position ends the previous one.
      if (number === null && !isWithin) continue;
      isWithin = number !== null;
      const found = number === null ? [] : [number, read[1], read[2]];
      segments.push(encode([columnRead - columnWritten, ...found.map((value, at) => value - written[at])]));
      columnWritten = columnRead;
      if (number !== null) written = found;
    }
    return segments.join(",");
  };
  return mappings.split(";").map(lineOf).join(";");
}

/** Decodes the integers of a segment: groups of five bits, lowest first, with the sign in the lowest bit. */
function decode(segment) {
  const integers = [];
  let [bits, shift] = [0, 0];
  for (let at = 0; at < segment.length; at += 1) {
    const value = VALUES.get(segment.charCodeAt(at));
    bits |= (value & (MORE - 1)) << shift;
    shift += 5;
    if (value & MORE) continue;
    integers.push(bits & 1 ? -(bits >> 1) : bits >> 1);
    [bits, shift] = [0, 0];
  }
  return integers;
}

const encode = (integers) =>
  integers
    .map((integer) => {
      let text = "";
      let bits = integer < 0 ? (-integer << 1) | 1 : integer << 1;
      do {
        text += DIGITS[(bits & (MORE - 1)) | (bits >= MORE ? MORE : 0)];
        bits >>= 5;
      } while (bits > 0);
      return text;
    })
    .join("");
