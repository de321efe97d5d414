import { counted } from "../core/format.ts";
import { hex8 } from "../core/hash.ts";
import type { Decision } from "../core/refusals.ts";
import type { State } from "../core/state.ts";
import { nodeDisk } from "../engine/disk.ts";
import { DataFileError } from "../engine/journal.ts";
import { damageText } from "../engine/journal-scan.ts";
import { ReplayDiffers } from "../engine/replayer.ts";
import { type ComparedResult, comparedResults, describeProblem } from "../history/describe-line.ts";
import { isCorrupt, type JournalSource, lostLinesError } from "../history/journal-files.ts";
import type { ReplayEnd, ReplayedLine } from "../history/journal-replay.ts";
import { FileRefused, isForbidden, isSystemError } from "../regular-file.ts";
import { indented } from "../scenario/report/text.ts";
import { NoFilesError } from "../scenario/run/files.ts";
import { ConfigError } from "../setting.ts";
import { VERSION } from "../version.ts";
import { failed, type Message, table, warn } from "./output.ts";
import { EXIT, type ExitCode, UsageError } from "./process.ts";

/** Prints an error on stderr: one sentence if the user can fix the cause, with the stack if it is a defect. */
export function reportFailure(error: unknown): ExitCode {
  const [code, message] = explanationOf(error) ?? [EXIT.defect, defectText(error)];
  return failed(message, code);
}

/** Returns the exit code and the message of an error whose cause the user can fix; null for a defect. */
function explanationOf(error: unknown): readonly [ExitCode, Message] | null {
  if (error instanceof FileRefused) return [EXIT.usage, `${error.path}: ${error.message}`];
  if (error instanceof UsageError) return [EXIT.usage, [error.message, ...error.more]];
  if (error instanceof ConfigError || error instanceof NoFilesError) return [EXIT.usage, error.message];
  if (error instanceof DataFileError) return [EXIT[error.problem], error.message];
  if (error instanceof ReplayDiffers) return [EXIT.differs, differenceText(error)];
  if (error instanceof Error && "permission" in error)
    return [EXIT.usage, `${error.message} (${error.permission})`];
  if (!(error instanceof Error && "syscall" in error)) return null;
  if (error.syscall === "uv_cwd") return [EXIT.usage, "the current folder was removed: change to another"];
  if (isForbidden(error)) return [EXIT.usage, `${error.message}: give a path that you may access`];
  if (isSystemError(error, "EMFILE", "ENFILE"))
    return [EXIT.usage, `${error.message}: raise the limit of open files, ulimit -n`];
  if (isSystemError(error, ...OF_PATHS)) return [EXIT.usage, error.message];
  if (isSystemError(error, ...OF_DEFECTS)) return null;
  // The system names no path if it refuses a write, such as to a stdout that is redirected to a file.
  const path = "path" in error ? error.path : "the output";
  const what = error.syscall === "write" ? `${path} cannot be written: ` : "";
  return [EXIT.disk, what + error.message];
}

/** Codes of system errors whose cause is a path. */
const OF_PATHS = ["ENOENT", "ENOTDIR", "EISDIR", "EEXIST", "EBUSY", "ELOOP", "ENAMETOOLONG"];

/** Codes of system errors that only a defect causes: a wrong call, and a connection that nobody takes care of. */
const OF_DEFECTS = ["EBADF", "EFAULT", "EINVAL", "EPIPE", "ECONNABORTED", "ECONNREFUSED", "ECONNRESET"];

function defectText(error: unknown): string[] {
  const trace = error instanceof Error ? (error.stack ?? error.message) : String(error);
  const program = `clobsim ${VERSION} (Node ${process.versions.node}, ${process.platform})`;
  return [`this is a defect of ${program}, please report it:`, ...trace.split("\n")];
}

/** Describes the first difference of a replay, with both results side by side. */
function differenceText({ line, command, result, message }: ReplayDiffers): string[] {
  const events = result instanceof Error || !result.ok ? [] : result.events;
  const words = (decision: Decision): string =>
    decision.ok ? "accepted" : `refused, ${decision.refusal.code}`;
  return [
    message,
    `  command   ${JSON.stringify(command)}`,
    ...comparison(comparedResults(["accepted", hex8(line.r)], result, words)),
    ...events.map((event) => `            ${JSON.stringify(event)}`),
  ];
}

const comparison = (rows: readonly ComparedResult[]): string[] =>
  indented(table([["", "recorded", "now"], ...rows]), 2);

/** Problems of a journal and its replay, and the exit code for them. */
export interface ReplayProblems {
  readonly code: ExitCode;
  readonly lines: readonly string[];
}

/** Describes how the replay of a journal ended. */
export function replayProblems(source: JournalSource, end: ReplayEnd): ReplayProblems {
  const problem = end.problem === null ? NO_PROBLEM : problemOf(source, end.problem, end.exchange.state);
  const damage = damageOf(source, end);
  return {
    code: damage.code === EXIT.ok ? problem.code : damage.code,
    lines: [...problem.lines, ...damage.lines],
  };
}

/**
 * Prints the result of a replay, then how the replay ended. If the result cannot be shown because the journal is damaged,
 * the damage decides the exit code.
 * @throws UsageError from `show` if the journal is undamaged.
 */
export async function endedWith({ code, lines }: ReplayProblems, show: () => void | Promise<void>) {
  try {
    await show();
  } catch (error) {
    if (code === EXIT.ok || !(error instanceof UsageError)) throw error;
    warn(error.message);
  }
  if (lines.length > 0) warn(lines);
  return code;
}

const NO_PROBLEM: ReplayProblems = { code: EXIT.ok, lines: [] };

function damageOf(source: JournalSource, { scan: { damage }, cutWarning }: ReplayEnd): ReplayProblems {
  const { path, name } = source;
  if (damage !== null && isCorrupt(source, damage))
    return { code: EXIT.corrupt, lines: [damageText(path, name, damage)] };
  const loss = lostLinesError(nodeDisk, source);
  if (loss !== null) return { code: EXIT.corrupt, lines: [loss.message] };
  if (damage === null) return cutWarning === null ? NO_PROBLEM : { code: EXIT.ok, lines: [cutWarning] };
  const { offset, bytes, line } = damage;
  const what = `an incomplete line, ${counted(bytes, "byte")}; a crash tore it, or it is being written now`;
  return {
    code: EXIT.ok,
    lines: [`${path} from byte ${offset} on, where line ${line} should begin: ${what}`],
  };
}

function problemOf({ name }: JournalSource, problem: ReplayedLine, state: State): ReplayProblems {
  const { heading, asked, rows } = describeProblem(problem, name, state);
  const { result } = problem;
  return {
    code: result.kind === "fails" && result.isRecorded ? EXIT.ok : EXIT.differs,
    lines: [heading, ...asked.map((text) => `  ${text}`), ...comparison(rows)],
  };
}
