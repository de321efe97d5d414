/** One header line of a request; a name may come several times. */
export type Header = readonly [name: string, value: string];

/** Headers by name, in any letter case: a text is sent, several as often, and null sends none. */
export type HeaderChanges = Readonly<Record<string, string | readonly string[] | null>>;

/** The headers that were made, in lower case, with those that are named in `changes` replaced by what it says. */
export function changeHeaders(made: readonly Header[], changes: HeaderChanges): Header[] {
  const changed = new Set(Object.keys(changes).map((name) => name.toLowerCase()));
  const headers = made.filter(([name]) => !changed.has(name));
  for (const [name, values] of Object.entries(changes)) {
    for (const value of [values ?? []].flat()) headers.push([name, value]);
  }
  return headers;
}
