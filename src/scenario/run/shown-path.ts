import { relative, sep } from "node:path";

/** A file as a person in this folder would write it; one that lies outside by its whole path. */
export function shownPath(file: string): string {
  const short = relative(process.cwd(), file);
  return (short.startsWith("..") ? file : short).split(sep).join("/");
}
