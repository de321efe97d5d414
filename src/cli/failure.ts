import { VERSION } from "../config.ts";
import { ReplayDiffers } from "../engine/replayer.ts";
import { StoreError } from "../engine/store-error.ts";
import { FileRefused } from "../regular-file.ts";
import { ConfigError } from "../setting.ts";
import { EXIT, type ExitCode, UsageError } from "./exit-code.ts";
import { differenceText } from "./journal-text.ts";

/** Says on stderr what went wrong: one sentence when the user can mend it, everything when only we can. */
export function reportFailure(error: unknown): ExitCode {
  if (error instanceof FileRefused) {
    process.stderr.write(`clobsim: ${error.path}: ${error.message}\n`);
    return EXIT.usage;
  }
  if (error instanceof UsageError || error instanceof ConfigError) {
    process.stderr.write(`clobsim: ${error.message}\n`);
    return EXIT.usage;
  }
  if (error instanceof StoreError) {
    process.stderr.write(`clobsim: ${error.message}\n`);
    return EXIT[error.problem];
  }
  if (error instanceof ReplayDiffers) {
    process.stderr.write(`clobsim: ${differenceText(error)}\n`);
    return EXIT.differs;
  }
  if (isOfFiles(error, NO_PATH)) {
    process.stderr.write(`clobsim: ${error.message}\n`);
    return EXIT.usage;
  }
  if (isOfFiles(error, NOT_GIVEN)) {
    process.stderr.write(`clobsim: ${error.message}\n`);
    return EXIT.disk;
  }
  const trace = error instanceof Error ? (error.stack ?? error.message) : String(error);
  process.stderr.write(
    `clobsim: this is a defect of clobsim ${VERSION} (Node ${process.versions.node}, ${process.platform}), please report it:\n${trace}\n`,
  );
  return EXIT.defect;
}

/** Whether the system says one of a few things of a file. */
const isOfFiles = (error: unknown, codes: ReadonlySet<string>): error is Error =>
  error instanceof Error && "syscall" in error && "code" in error && codes.has(String(error.code));

/** What it says of a path that leads nowhere, and of a file that it does not give; the rest nobody has reckoned with. */
const NO_PATH: ReadonlySet<string> = new Set(["ENOTDIR", "ELOOP", "ENAMETOOLONG"]);
const NOT_GIVEN: ReadonlySet<string> = new Set(["EACCES", "EPERM", "EROFS", "ENOSPC", "EIO"]);
