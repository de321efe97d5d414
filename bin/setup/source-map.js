const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const VALUES = new Map(Array.from(DIGITS, (digit, value) => [digit.charCodeAt(0), value]));
const MORE = 32;
/** Source, line and column. */
const FIELDS = [0, 1, 2];

/** Whether a source is none of ours: of a package, or in the place of one. */
const isVendored = (source) => /node_modules\/|stand-in:/.test(source);

/**
 * A source map, as text, without the places that are in sources of others, and without names: ours are whole. Null where
 * nothing is left.
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

/** @param numbers of the sources that are kept, by their number before; null of the others */
function ownMappings(mappings, numbers) {
  /** What source, line and column are counted from, in what is read and in what is written. */
  const read = [0, 0, 0];
  let written = [0, 0, 0];
  const lineOf = (line) => {
    const segments = [];
    let [columnRead, columnWritten] = [0, 0];
    let isWithin = true;
    for (const segment of line === "" ? [] : line.split(",")) {
      const [columns, ...place] = decoded(segment);
      columnRead += columns;
      if (place.length > 0) for (const at of FIELDS) read[at] += place[at];
      const number = place.length === 0 ? null : numbers[read[0]];
      // One segment without a place ends what came before.
      if (number === null && !isWithin) continue;
      isWithin = number !== null;
      const found = number === null ? [] : [number, read[1], read[2]];
      segments.push(encoded([columnRead - columnWritten, ...found.map((value, at) => value - written[at])]));
      columnWritten = columnRead;
      if (number !== null) written = found;
    }
    return segments.join(",");
  };
  return mappings.split(";").map(lineOf).join(";");
}

/** The integers of a segment, each in groups of five bits, the lowest first, its sign in the lowest bit. */
function decoded(segment) {
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

const encoded = (integers) =>
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
