import { lstatSync, realpathSync, statSync } from "node:fs";
import { dirname, isAbsolute, relative, resolve, sep } from "node:path";

/** Where a path of a file leads; or why it may not be followed, with what to do. */
export type Followed =
  | { readonly ok: true; readonly path: string; readonly exists: boolean }
  | { readonly ok: false; readonly message: string; readonly hint: string | null };

const RULE = "paths are relative to the file that names them and stay in the scenario's folder";

/** The folder of a scenario, out of which none of its paths leads. */
export class ScenarioFolder {
  /** Absolute. */
  readonly path: string;
  #real: string | null = null;

  constructor(path: string) {
    this.path = resolve(path);
  }

  /** Follows a path that a file in `from` names, links and all. */
  follow(path: string, from: string): Followed {
    if (path === "") return refused("expected a path, found nothing");
    if (/^[A-Za-z][A-Za-z\d+.-]*:/.test(path))
      return refused("expected a relative path, found a URL or a drive");
    if (path.includes("\\")) return refused("expected a path with forward slashes, found a backslash");
    if (isAbsolute(path)) return refused("expected a relative path, found an absolute one");
    const absolute = resolve(from, path);
    if (!isWithin(this.path, absolute))
      return refused("expected a path in the scenario's folder, found one out of it");
    try {
      return this.#followLinks(absolute);
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      return refused(`the path cannot be followed: ${code ?? message}`);
    }
  }

  #followLinks(path: string): Followed {
    const { place, exists } = nearestExisting(path);
    if (place === null) return refused("the path leads through a link that leads nowhere");
    this.#real ??= realpathSync(this.path);
    if (!isWithin(this.#real, realpathSync(place))) {
      return refused("expected a path in the scenario's folder, found a link out of it");
    }
    if (exists && !statSync(path).isFile()) return refused("expected a file, found something else");
    return { ok: true, path, exists };
  }
}

const refused = (message: string): Followed => ({ ok: false, message, hint: RULE });

function isWithin(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/** The path, or the innermost folder of it that exists; null where a link on the way leads nowhere. */
function nearestExisting(path: string): { readonly place: string | null; readonly exists: boolean } {
  for (let place = path; ; place = dirname(place)) {
    const found = lstatSync(place, { throwIfNoEntry: false });
    if (found === undefined && place !== dirname(place)) continue;
    const leads = statSync(place, { throwIfNoEntry: false }) !== undefined;
    return { place: leads ? place : null, exists: place === path };
  }
}
