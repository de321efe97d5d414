/** What a query parameter may be; undefined leaves it out. */
export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

/** Percent-encoded UTF-8, even of a text with half a surrogate pair, which `encodeURIComponent` alone refuses. */
const encoded = (value: string): string => encodeURIComponent(Buffer.from(value).toString());

/** The path that a template makes of what is put into it, whatever characters that has. */
export const route = (texts: TemplateStringsArray, ...segments: readonly string[]): string =>
  String.raw({ raw: texts }, ...segments.map(encoded));

/** A path and its query as one request target. */
export function targetOf(path: string, query: Query = {}): string {
  const parameters: string[] = [];
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) parameters.push(`${encoded(name)}=${encoded(String(value))}`);
  }
  return parameters.length === 0 ? path : `${path}?${parameters.join("&")}`;
}
