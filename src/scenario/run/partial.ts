/** A place in an answer where it is not what was expected. */
export interface Difference {
  /** `data[0].price`; `answer` for the whole. */
  readonly path: string;
  readonly wanted: string;
  readonly seen: string;
}

/** Where an answer lacks what is wanted: objects may hold more, lists and single values must be the same. */
export function differences(wanted: unknown, seen: unknown, path = ""): Difference[] {
  if (isObject(wanted) && isObject(seen)) {
    return Object.entries(wanted).flatMap(([name, value]) =>
      differences(
        value,
        Object.hasOwn(seen, name) ? seen[name] : undefined,
        path === "" ? name : `${path}.${name}`,
      ),
    );
  }
  if (Array.isArray(wanted) && Array.isArray(seen) && wanted.length === seen.length) {
    return wanted.flatMap((value, index) => differences(value, seen[index], `${path}[${index}]`));
  }
  if (Object.is(wanted, seen)) return [];
  if (Array.isArray(wanted) && Array.isArray(seen)) {
    return [{ path: path === "" ? "answer" : path, wanted: listText(wanted), seen: listText(seen) }];
  }
  return [{ path: path === "" ? "answer" : path, wanted: shown(wanted), seen: shown(seen) }];
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const listText = (list: readonly unknown[]): string =>
  `${list.length} item${list.length === 1 ? "" : "s"} ${shown(list)}`;

const MOST = 120;

function shown(value: unknown): string {
  if (value === undefined) return "nothing";
  const text = JSON.stringify(value);
  return text.length > MOST ? `${text.slice(0, MOST)}...` : text;
}
