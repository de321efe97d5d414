import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { gzip } from "node:zlib";

/** Locations of the built page, relative to the bundle and to the sources. */
const LOCATIONS = ["./inspector.html", "../dist/inspector.html"];

export const NOT_BUILT = "the page of the inspector is not built yet: run `npm run build` first";

/** Reads the built page of the inspector; null if it is not built. */
export async function inspectorPage(): Promise<string | null> {
  const page = LOCATIONS.map((location) => new URL(location, import.meta.url)).find(existsSync);
  return page === undefined ? null : readFile(page, "utf8");
}

const compress = promisify(gzip);
const SLOT = '<script id="report" type="application/gzip"></script>';

/** Embeds a report, which the page opens under a name. @throws Error if the page has no slot for one */
export async function withReport(page: string, name: string, report: Uint8Array): Promise<string> {
  if (page.split(SLOT).length !== 2) throw new Error("the page has no slot for a report");
  const content = (await compress(report)).toString("base64");
  const filled = `<script id="report" type="application/gzip" data-name="${escaped(name)}">${content}</script>`;
  return page.replace(SLOT, () => filled);
}

const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", '"': "&quot;", "<": "&lt;", ">": "&gt;" };

/** Escapes a text for an attribute. */
const escaped = (text: string): string => text.replace(/[&"<>]/g, (sign) => ENTITIES[sign] as string);
