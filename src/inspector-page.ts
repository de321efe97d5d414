import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { gzip } from "node:zlib";

/** Where the build leaves the page: beside the bundle, and as the sources see it. */
const PLACES = ["./inspector.html", "../dist/inspector.html"];

/** What somebody must do who has the sources and no page. */
export const NOT_BUILT = "the page of the inspector is not built yet: run `npm run build` first";

/** The page of the inspector as it was built; null where there is no build. */
export async function inspectorPage(): Promise<string | null> {
  for (const place of PLACES) {
    try {
      return await readFile(new URL(place, import.meta.url), "utf8");
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    }
  }
  return null;
}

const packed = promisify(gzip);
const SLOT = '<script id="report" type="application/gzip"></script>';

/** The page with a report in it, which it opens under that name. @throws Error where the page has no place for one. */
export async function withReport(page: string, name: string, report: Uint8Array): Promise<string> {
  const [before, after, ...more] = page.split(SLOT);
  if (before === undefined || after === undefined || more.length > 0)
    throw new Error("a page without a slot");
  const content = (await packed(report)).toString("base64");
  return `${before}<script id="report" type="application/gzip" data-name="${escaped(name)}">${content}</script>${after}`;
}

const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", '"': "&quot;", "<": "&lt;", ">": "&gt;" };

/** A text as the value of an attribute. */
const escaped = (text: string): string => text.replace(/[&"<>]/g, (sign) => ENTITIES[sign] as string);
