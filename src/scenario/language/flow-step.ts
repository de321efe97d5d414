import { PROFILE_NAMES } from "../flow/profiles.ts";
import { entriesBy, fieldsOf } from "./fields.ts";
import type { GenerateStep, ReplayStep } from "./scenario.ts";
import { baseOf, type StepSource } from "./step-source.ts";
import { type DecimalRule, oneOf, textOf, unitsAt } from "./values.ts";
import type { Entry } from "./yaml-tree.ts";

const ORDERS: DecimalRule = { what: "a number of orders", places: 0, least: 1, most: 10_000_000 };
const ACCOUNTS: DecimalRule = { what: "a number of accounts", places: 0, least: 1, most: 10_000 };
const REJECTED: DecimalRule = { what: "a number of rows", places: 0, least: 0, most: 1_000_000_000 };
const DEFAULT_ACCOUNTS = 20;
const DEFAULT_PROFILE = "balanced";

/** Reads `replay: flows/opening.csv`, or `replay: { file: flows/opening.csv, in: rain, rejected: 2 }`. */
export function readReplay(step: StepSource): ReplayStep | null {
  const { file, files, head, declared } = step;
  const { page } = file;
  entriesBy(page, step.beside, []);
  declared.hasFlow = true;
  if (head.value.kind === "text") {
    const path = files.pathAt(file, head.value);
    return path === null ? null : { ...baseOf(step), kind: "replay", file: path, market: null, rejected: 0 };
  }
  const fields = fieldsOf(page, head.value, "a path or { file, in, rejected }", ["file", "in", "rejected"]);
  if (fields === null) return null;
  if (fields.file === undefined) return page.wrong(head.value.start, "expected the key file, found none");
  const path = files.pathAt(file, fields.file.value);
  const market = fields.in === undefined ? null : marketOf(step, fields.in);
  const rejected = fields.rejected === undefined ? 0 : unitsAt(page, fields.rejected.value, REJECTED);
  if (path === null || market === undefined || rejected === null) return null;
  return { ...baseOf(step), kind: "replay", file: path, market, rejected };
}

/** Reads `generate: { orders: 5000, accounts: 20, profile: balanced }`. */
export function readGenerate(step: StepSource): GenerateStep | null {
  const { file, head, declared } = step;
  const { page } = file;
  entriesBy(page, step.beside, []);
  declared.hasFlow = true;
  const keys = ["orders", "accounts", "profile", "in"] as const;
  const fields = fieldsOf(page, head.value, "{ orders, accounts, profile }", keys);
  if (fields === null) return null;
  if (fields.orders === undefined) page.wrong(head.value.start, "expected the key orders, found none");
  const orders = fields.orders === undefined ? null : unitsAt(page, fields.orders.value, ORDERS);
  const accounts =
    fields.accounts === undefined ? DEFAULT_ACCOUNTS : unitsAt(page, fields.accounts.value, ACCOUNTS);
  const profile =
    fields.profile === undefined ? DEFAULT_PROFILE : oneOf(page, fields.profile.value, PROFILE_NAMES);
  const market = marketOf(step, fields.in);
  if (orders === null || accounts === null || profile === null || market === undefined) return null;
  return { ...baseOf(step), kind: "generate", orders, accounts, profile, market };
}

/** The market of the key `in`; undefined with a problem when there is no such market, or none is named. */
function marketOf({ file, head, declared }: StepSource, entry: Entry | undefined): string | null | undefined {
  const { page } = file;
  const name = entry === undefined ? null : textOf(page, entry.value, "the name of a market");
  if (entry !== undefined && name === null) return undefined;
  if (declared.hasMarket(name)) return declared.marketName(name);
  declared.noMarket(page, entry?.value.start ?? head.value.start, name);
  return undefined;
}
