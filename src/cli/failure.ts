import { VERSION } from "../config.ts";
import { ReplayDiffers } from "../engine/replayer.ts";
import { StoreError } from "../engine/store-error.ts";
import { FileRefused, isForbidden } from "../regular-file.ts";
import { ConfigError } from "../setting.ts";
import { EXIT, type ExitCode, UsageError } from "./exit-code.ts";
import { differenceText } from "./journal-text.ts";
import { warn } from "./output.ts";

/** Says on stderr what went wrong: one sentence when the user can mend it, with the stack when it is a defect. */
export function reportFailure(error: unknown): ExitCode {
  const [code, message] = explanationOf(error) ?? [EXIT.defect, defectText(error)];
  warn(message);
  return code;
}

/** The exit code and the sentence of an error that the user can mend; null for a defect. */
function explanationOf(error: unknown): readonly [ExitCode, string] | null {
  if (error instanceof FileRefused) return [EXIT.usage, `${error.path}: ${error.message}`];
  if (error instanceof UsageError || error instanceof ConfigError) return [EXIT.usage, error.message];
  if (error instanceof StoreError) return [EXIT[error.problem], error.message];
  if (error instanceof ReplayDiffers) return [EXIT.differs, differenceText(error)];
  if (isOfFiles(error, NO_PATH)) return [EXIT.usage, error.message];
  if (isForbidden(error)) return [EXIT.usage, `${error.message}: name a place that you have the rights for`];
  return isOfFiles(error, NOT_GIVEN) ? [EXIT.disk, error.message] : null;
}

function defectText(error: unknown): string {
  const trace = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return `this is a defect of clobsim ${VERSION} (Node ${process.versions.node}, ${process.platform}), please report it:\n${trace}`;
}

/** Whether the system says one of a few things of a file. */
const isOfFiles = (error: unknown, codes: ReadonlySet<string>): error is Error =>
  error instanceof Error && "syscall" in error && "code" in error && codes.has(String(error.code));

/** What it says of a path that leads nowhere, and of a file that it does not give; the rest nobody has reckoned with. */
const NO_PATH: ReadonlySet<string> = new Set(["ENOTDIR", "ELOOP", "ENAMETOOLONG"]);
const NOT_GIVEN: ReadonlySet<string> = new Set(["ENOSPC", "EIO"]);
