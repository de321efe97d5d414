import { VERSION } from "../config.ts";
import { StoreError } from "../engine/journal.ts";
import { ReplayDiffers } from "../engine/replayer.ts";
import { FileRefused, isForbidden } from "../regular-file.ts";
import { ConfigError } from "../setting.ts";
import { EXIT, type ExitCode, UsageError } from "./exit-code.ts";
import { differenceText } from "./journal-text.ts";
import { warn } from "./output.ts";
import { DISK_FAILURE } from "./output-file.ts";

/** Prints an error on stderr: one sentence if the user can fix the cause, with the stack if it is a defect. */
export function reportFailure(error: unknown): ExitCode {
  const [code, message] = explanationOf(error) ?? [EXIT.defect, defectText(error)];
  warn(message);
  return code;
}

/** Returns the exit code and the message of an error whose cause the user can fix; null for a defect. */
function explanationOf(error: unknown): readonly [ExitCode, string] | null {
  if (error instanceof FileRefused) return [EXIT.usage, `${error.path}: ${error.message}`];
  if (error instanceof UsageError || error instanceof ConfigError) return [EXIT.usage, error.message];
  if (error instanceof StoreError) return [EXIT[error.problem], error.message];
  if (error instanceof ReplayDiffers) return [EXIT.differs, differenceText(error)];
  if (isSystemError(error, INVALID_PATH)) return [EXIT.usage, error.message];
  if (isForbidden(error)) return [EXIT.usage, `${error.message}: give a path that you may access`];
  return isSystemError(error, DISK_FAILURE) ? [EXIT.disk, error.message] : null;
}

function defectText(error: unknown): string {
  const trace = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return `this is a defect of clobsim ${VERSION} (Node ${process.versions.node}, ${process.platform}), please report it:\n${trace}`;
}

/** Whether an error is of a system call, with one of the codes. */
const isSystemError = (error: unknown, codes: ReadonlySet<string>): error is Error =>
  error instanceof Error && "syscall" in error && "code" in error && codes.has(String(error.code));

const INVALID_PATH: ReadonlySet<string> = new Set(["ENOTDIR", "ELOOP", "ENAMETOOLONG"]);
