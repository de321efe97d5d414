import { inspect } from "node:util";
import pc from "picocolors";
import sonicBoom from "sonic-boom";
import { printableAscii } from "../core/format.ts";
import { pathOf, type RequestInfo } from "./messages.ts";

/** What is logged of a request: an HTTP request, a WebSocket message, or input that is neither. */
type Logged = Pick<RequestInfo, "requestId" | "method" | "url" | "arrivedAt">;

/**
 * Logs one line per request, at level warn if the client was warned. No value of a header, query or body is logged,
 * except a number that was clamped, so that no secret is logged.
 */
export interface RequestLog {
  /** `status` is 0 if the connection was closed without an answer; `warning` is what the client was warned of, in ASCII. */
  request(request: Logged, status: number, code?: string, warning?: string): void;
  /** Logs a defect of the server, with facts for diagnosis. */
  defect(error: unknown, facts: Readonly<Record<string, unknown>>): void;
  /** Logs why the server cannot work as before. */
  failure(message: string): void;
  /** Writes pending lines. Nothing may be logged afterwards. */
  close(): void;
}

/** The levels of pino, whose format the lines have. */
const LEVELS = { trace: 10, debug: 20, info: 30, warn: 40, error: 50, fatal: 60, silent: Infinity } as const;

/** Returns a log to stderr: aligned and colored lines on a terminal, JSON lines elsewhere. */
export function requestLog(level: keyof typeof LEVELS): RequestLog {
  const isLogged = (of: keyof typeof LEVELS): boolean => LEVELS[of] >= LEVELS[level];
  if (!isLogged("error")) return { request: () => {}, defect: () => {}, failure: () => {}, close: () => {} };
  const batched = process.stderr.isTTY === true ? null : new LineBatch();
  const time = timestamps();
  const writeError = (shown: string, fields: object): void => {
    if (batched === null) process.stderr.write(`${clock()} ${shown}\n`);
    else batched.write(`{"level":${LEVELS.error}${time()},${JSON.stringify(fields).slice(1)}\n`);
  };
  return {
    request: (request, status, code = "", warning = "") => {
      const of = warning === "" ? "info" : "warn";
      if (!isLogged(of)) return;
      if (batched === null) process.stderr.write(terminalLine(request, status, code, warning));
      else batched.write(requestLine(LEVELS[of], time(), request, status, code, warning));
    },
    defect: (error, facts) => {
      const { name, message } = error instanceof Error ? error : new Error(String(error));
      const stack = inspect(error);
      const err = { type: name, message, stack };
      writeError(`${pc.red(DEFECT)}\n${stack}`, { ...facts, err, msg: DEFECT });
    },
    failure: (msg) => writeError(pc.red(msg), { msg }),
    close: () => batched?.close(),
  };
}

const DEFECT = "a defect in clobsim";

/** Returns a log that adds `prefix`, which was removed from the path, to each path. */
export const logBelow = (log: RequestLog, prefix: string): RequestLog => ({
  ...log,
  request: ({ requestId, method, url, arrivedAt }, ...outcome) =>
    log.request({ requestId, method, url: url.startsWith("/") ? prefix + url : url, arrivedAt }, ...outcome),
  defect: (error, facts) => log.defect(error, { ...facts, path: `${prefix}${facts.path}` }),
});

/** A batch is written at this length in characters, or after this time. */
const BATCH_LENGTH = 65_536;
const BATCH_MS = 20;

/** Writes lines to stderr in batches, because one write per line takes an eighth of the time of a small request. */
class LineBatch {
  /** null if its reader is gone. */
  #stderr: sonicBoom.SonicBoom | null = new sonicBoom.SonicBoom({ fd: 2, sync: false });
  #lines = "";
  #timer: NodeJS.Timeout | null = null;

  constructor() {
    this.#stderr?.on("error", this.#reportError);
    process.once("exit", this.#atExit);
  }

  write(line: string): void {
    this.#lines += line;
    if (this.#lines.length >= BATCH_LENGTH) this.#flush();
    else this.#timer ??= setTimeout(() => this.#flush(), BATCH_MS).unref();
  }

  /** Starts the last write without waiting for it, because a reader that has stopped reading would block it forever. */
  close(): void {
    process.off("exit", this.#atExit);
    this.#flush();
  }

  #flush(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    if (this.#lines !== "") this.#stderr?.write(this.#lines);
    this.#lines = "";
  }

  readonly #atExit = (): void => {
    this.#flush();
    this.#stderr?.flushSync();
  };

  /** Emits a write error on `process.stderr`, whose stream is bypassed. Without listeners, EPIPE only ends the log. */
  readonly #reportError = (error: NodeJS.ErrnoException): void => {
    if (error.code === "EPIPE") this.#stderr = null;
    if (process.stderr.listenerCount("error") > 0) process.stderr.emit("error", error);
    else if (error.code !== "EPIPE") throw error;
  };
}

/** Formats the line that pino would write. Assembled by hand, because there is one for every request. */
function requestLine(
  level: number,
  time: string,
  { requestId, method, url, arrivedAt }: Logged,
  status: number,
  code: string,
  warning: string,
): string {
  const ms = Math.round((performance.now() - arrivedAt) * 1000) / 1000;
  const because = code === "" ? "" : `,"code":"${code}"`;
  const warned = warning === "" ? "" : `,"warning":${JSON.stringify(warning)}`;
  const path = pathOf(url);
  const name = SAFE.test(path) ? path : JSON.stringify(printableAscii(path)).slice(1, -1);
  return `{"level":${level}${time},"requestId":"${requestId}","method":"${method}","path":"${name}","status":${status},"ms":${ms}${because}${warned}}\n`;
}

/** A path that needs no escapes in JSON and on a terminal. */
const SAFE = /^[\x20!#-[\]-~]*$/;

/** Returns a formatter of the wall clock as a member of a log line. It caches, because many lines share a millisecond. */
function timestamps(): () => string {
  let last = 0;
  let text = "";
  return () => {
    const now = Date.now();
    if (now !== last) {
      last = now;
      text = `,"time":"${new Date(now).toISOString()}"`;
    }
    return text;
  };
}

const clock = (): string => pc.dim(new Date().toISOString().slice(11, 23));

/** Formats a request for a terminal. */
function terminalLine({ method, url, arrivedAt }: Logged, status: number, code: string, warning: string) {
  const paint = status === 0 || status >= 500 ? pc.red : status < 400 ? pc.green : pc.yellow;
  const duration = pc.dim(`${(performance.now() - arrivedAt).toFixed(1)} ms`.padStart(9));
  const path = printableAscii(pathOf(url));
  const because = code === "" ? "" : ` ${paint(code)}`;
  const warned = warning === "" ? "" : ` ${pc.yellow(warning)}`;
  return `${clock()} ${method.padEnd(6)} ${paint(String(status))} ${duration} ${path}${because}${warned}\n`;
}
