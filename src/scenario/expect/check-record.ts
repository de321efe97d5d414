import { readFile } from "node:fs/promises";
import type { Expectation } from "../language/scenario.ts";
import { diffOf, expected, found, note } from "../run/diff.ts";
import { goldenText } from "../run/picture.ts";
import type { Mismatch, Session } from "../run/session.ts";

type Of<Kind extends Expectation["kind"]> = Extract<Expectation, { readonly kind: Kind }>;

/** Compares the hash of everything; updating, notes the new one. */
export async function checkStateHash(
  session: Session,
  { place, hash, range }: Of<"stateHash">,
): Promise<Mismatch | null> {
  const seen = await session.venue.stateHash();
  if (seen === null || seen === hash) return null;
  if (session.isUpdating) {
    session.updates.push({ kind: "value", file: place.file, range, text: seen });
    return null;
  }
  return {
    place,
    message: hash === "" ? "the state's hash is not written yet" : "the state's hash is another",
    diff: [expected(hash === "" ? "(none)" : hash), found(seen), note("clobsim run --update writes it")],
  };
}

/** Compares books and trades with a file that holds them; updating, writes it. */
export async function checkGolden(session: Session, { place, file }: Of<"golden">): Promise<Mismatch | null> {
  const text = await goldenText(session);
  const kept = await readKept(file);
  if (kept === text) return null;
  if (session.isUpdating) {
    session.updates.push({ kind: "file", file, text });
    return null;
  }
  if (kept === null) {
    return {
      place,
      message: "the golden file does not exist",
      diff: [note("clobsim run --update writes it")],
    };
  }
  const lines = (of: string): string[] => of.split("\n").slice(0, -1);
  return {
    place,
    message: "books and trades are not those of the golden file",
    diff: [...diffOf(lines(kept), lines(text)), note("clobsim run --update writes it anew")],
  };
}

/** Line ends are the checkout's affair. */
async function readKept(file: string): Promise<string | null> {
  try {
    return (await readFile(file, "utf8")).replaceAll("\r\n", "\n");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}
