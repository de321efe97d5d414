import type { Step } from "../step.ts";
import { CONSTANTS, CONTROL } from "./control.ts";
import { FEES } from "./fees.ts";
import { FILTERS } from "./filters.ts";
import { ADDING_TIME, MINING } from "./mining.ts";
import { NAMES } from "./names.ts";
import { READING } from "./reading.ts";
import { FOREIGN, SENDING } from "./sending.ts";
import { WRONG } from "./wrong.ts";

/** Requests that are sent in this order to a new node of a chain without trades. */
export const SCRIPT: readonly Step[] = [
  ...READING,
  ...CONSTANTS,
  ...FEES,
  ...ADDING_TIME,
  ...SENDING,
  ...NAMES,
  ...MINING,
  ...FILTERS,
  ...CONTROL,
  ...FOREIGN,
  ...WRONG,
];
