import { FILE_LIMITS, readText } from "../../regular-file.ts";
import type { Place } from "../language/problem.ts";
import type { Expectation } from "../language/scenario.ts";
import { diffOf, expected, found, note } from "../run/diff.ts";
import { goldenText } from "../run/picture.ts";
import type { Mismatch, Session, Update } from "../run/session.ts";

type Of<Kind extends Expectation["kind"]> = Extract<Expectation, { readonly kind: Kind }>;

/** Compares the hash of everything; updating, notes the new one. */
export async function checkStateHash(
  session: Session,
  { place, hash, range, around }: Of<"stateHash">,
): Promise<Mismatch | null> {
  const seen = await session.venue.stateHash();
  if (seen === null) return null;
  if (session.isUpdating) {
    const [before, after] = around;
    const text = `${before}${seen}${after}`;
    const update: Update = { kind: "value", file: place.file, range, text };
    return updated(session, place, `${place.file} ${range[0]}`, seen, seen === hash ? null : update);
  }
  if (seen === hash) return null;
  return {
    place,
    message: hashMessage(hash),
    diff: [expected(hash === "" ? "(none)" : hash), found(seen), note("clobsim run --update writes it")],
  };
}

function hashMessage(hash: string): string {
  if (hash === "") return "the state's hash is not written yet";
  return hash.includes(":")
    ? "the state's hash is another"
    : "the state's hash was written by an earlier version, which hashed otherwise";
}

/** What is said where a golden file holds something else. */
export const OTHER_GOLDEN = "books and trades are not those of the golden file";

/** Compares books and trades with a file that holds them; updating, writes it. */
export async function checkGolden(session: Session, { place, file }: Of<"golden">): Promise<Mismatch | null> {
  const text = await goldenText(session.scenario, session.venue);
  const kept = await readGolden(file);
  if (session.isUpdating) {
    return updated(session, place, file, text, kept === text ? null : { kind: "file", file, text });
  }
  if (kept === text) return null;
  if (kept === null) {
    return {
      place,
      message: "the golden file does not exist",
      diff: [note("clobsim run --update writes it")],
    };
  }
  return {
    place,
    message: OTHER_GOLDEN,
    diff: [...diffOf(linesOf(kept), linesOf(text)), note("clobsim run --update writes it anew")],
  };
}

/** Notes an update once, however often its place is come by: in each order of a race, in each inclusion of a file. */
function updated(
  session: Session,
  place: Place,
  where: string,
  value: string,
  update: Update | null,
): Mismatch | null {
  const before = session.recorded.get(where);
  if (before === undefined) {
    session.recorded.set(where, value);
    if (update !== null) session.updates.push(update);
    return null;
  }
  if (before === value) return null;
  return {
    place,
    message: "no one value can be written, for this is checked more than once and differs",
    diff: diffOf(linesOf(before), linesOf(value)),
  };
}

const linesOf = (text: string): string[] => text.replace(/\n$/, "").split("\n");

/** The text of a golden file; null where there is none. Line ends are the checkout's affair. */
export async function readGolden(file: string): Promise<string | null> {
  try {
    return readText(file, FILE_LIMITS.golden).replaceAll("\r\n", "\n");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}
