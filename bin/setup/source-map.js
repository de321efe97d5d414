/** Whether a source belongs to a package or replaces one. */
const isVendored = (source) => /node_modules\/|stub:/.test(source);

/**
 * Removes vendored sources from the text of a source map, and names, which are not minified; returns null if nothing is
 * left.
 */
export async function ownSourceMap(text) {
  // Loaded here, because the packages may be installed only now.
  const { decode, encode } = await import("@jridgewell/sourcemap-codec");
  const map = JSON.parse(text);
  const sources = map.sources.filter((source) => !isVendored(source));
  if (sources.length === 0) return null;
  const numbers = map.sources.map((source) => sources.indexOf(source));
  const lines = decode(map.mappings).map((segments) => {
    let isWithin = true;
    return segments.flatMap(([column, source, ...position]) => {
      const number = source === undefined ? -1 : numbers[source];
      // One segment without a position ends the previous one.
      const isKept = number >= 0 || isWithin;
      isWithin = number >= 0;
      if (!isKept) return [];
      return [isWithin ? [column, number, ...position.slice(0, 2)] : [column]];
    });
  });
  return JSON.stringify({ ...map, sources, names: [], mappings: encode(lines) });
}
