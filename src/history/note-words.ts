import { isNote, type Line } from "../engine/journal-line.ts";
import { digitsOf } from "./report.ts";

const SHOWN_DIGITS = 12;

/** What a line says that is no command; null of a command. */
export function noteText(line: Line): string | null {
  if (isNote(line, "opening")) {
    const { config, base, engine } = line.d;
    return `opens from a ${base.kind}, seed ${config.seed}, clobsim ${engine}`;
  }
  if (isNote(line, "start")) {
    const { engine, durability, mode, rate } = line.d;
    return `clobsim ${engine} starts, clock ${clockText(mode, rate)}, durability ${durability}`;
  }
  if (isNote(line, "clock")) return `clock set to ${clockText(line.d.mode, line.d.rate)}`;
  if (isNote(line, "restore")) return `back to where it stood after line ${line.d.line}`;
  if (isNote(line, "reset")) return "opened anew";
  if (isNote(line, "close"))
    return `stopped in good order, state ${digitsOf(line.d.hash).slice(0, SHOWN_DIGITS)}`;
  if (isNote(line, "defect")) return `a defect: ${line.d.message}`;
  if (isNote(line, "report")) return `end of the report: ${line.d.reason}`;
  if (isNote(line, "scenario")) return `the scenario that failed: ${line.d.file}`;
  if (isNote(line, "refusedFull")) return `further refused requests are left out, ${line.d.noted} are noted`;
  return null;
}

const clockText = (mode: string, rate: number): string => (mode === "scaled" ? `${rate}x` : mode);
