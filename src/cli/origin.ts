import type { Setting } from "../setting.ts";

/** Where a server answers: scheme, host and port alone. */
export const ORIGIN: Setting<URL> = { expected: "an origin such as http://127.0.0.1:7070", read: readOrigin };

function readOrigin(text: string): URL | null {
  const url = URL.canParse(text) ? new URL(text) : null;
  return url !== null && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/` ? url : null;
}
