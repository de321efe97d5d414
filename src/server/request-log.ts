import pc from "picocolors";
import { pino } from "pino";

interface Outcome {
  readonly requestId: string;
  readonly method: string;
  /** The raw path, without the query. */
  readonly path: string;
  /** 0 when the connection was cut instead. */
  readonly status: number;
  /** Wall milliseconds from arrival to answer. */
  readonly ms: number;
  readonly code?: string | undefined;
  /** What the client was warned of, in ASCII. */
  readonly warning?: string | undefined;
}

/**
 * One line a request, at level warn when its client was warned. No value of a header, query or body is ever logged but
 * a number that was clamped, so that no secret can be.
 */
export interface RequestLog {
  request(outcome: Outcome): void;
  /** A defect of the server itself, with all that helps to find it. */
  defect(error: unknown, facts: Readonly<Record<string, unknown>>): void;
  /** Writes pending lines. Nothing may be logged afterwards. */
  close(): void;
}

type LogLevel = "silent" | "fatal" | "error" | "warn" | "info" | "debug" | "trace";

/** Logs to stderr: aligned and coloured lines on a terminal, JSON lines elsewhere. */
export function requestLog(level: LogLevel): RequestLog {
  if (level === "silent") return { request: () => {}, defect: () => {}, close: () => {} };
  const isTerminal = process.stderr.isTTY === true;
  const batched = isTerminal ? null : new LineBatch();
  const terminal = { write: (line: string) => void process.stderr.write(pretty(line)) };
  const out = batched ?? terminal;
  const time = timestamps();
  const logger = pino({ level, base: null, timestamp: time }, out);
  const { values } = logger.levels;
  const tellsAll = logger.isLevelEnabled("info");
  const tellsWarnings = logger.isLevelEnabled("warn");
  return {
    request: (outcome) => {
      const isWarned = outcome.warning !== undefined;
      if (!(isWarned ? tellsWarnings : tellsAll)) return;
      out.write(requestLine(values[isWarned ? "warn" : "info"] as number, time(), outcome));
    },
    defect: (error, facts) => logger.error({ ...facts, err: error }, "a defect in clobsim"),
    close: () => batched?.close(),
  };
}

/** The same log, for requests whose path has lost a prefix. */
export const logBelow = (log: RequestLog, prefix: string): RequestLog => ({
  ...log,
  request: (outcome) =>
    log.request(outcome.path.startsWith("/") ? { ...outcome, path: prefix + outcome.path } : outcome),
  defect: (error, facts) => log.defect(error, { ...facts, path: `${prefix}${facts.path}` }),
});

/** A batch is written when it has so many characters, or after so many milliseconds. */
const BATCH_LENGTH = 8_192;
const BATCH_MS = 20;

/** Lines for stderr, written in batches: a call for each line costs an eighth of the time of a small request. */
class LineBatch {
  readonly #stderr = pino.destination({ dest: 2, sync: false });
  #lines = "";
  #timer: NodeJS.Timeout | null = null;

  constructor() {
    this.#stderr.on("error", tellStderr);
    process.once("exit", this.#atExit);
  }

  write(line: string): void {
    this.#lines += line;
    if (this.#lines.length >= BATCH_LENGTH) this.#flush();
    else this.#timer ??= setTimeout(() => this.#flush(), BATCH_MS).unref();
  }

  /** Does not wait: a reader that has stopped reading would block it forever. */
  close(): void {
    process.off("exit", this.#atExit);
    this.#flush();
  }

  #flush(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    if (this.#lines !== "") this.#stderr.write(this.#lines);
    this.#lines = "";
  }

  readonly #atExit = (): void => {
    this.#flush();
    this.#stderr.flushSync();
  };
}

/** The lines go to stderr past its stream: whoever wants to know that nobody reads it listens there. */
function tellStderr(error: Error): void {
  if (process.stderr.listenerCount("error") > 0) process.stderr.emit("error", error);
  else if ((error as NodeJS.ErrnoException).code !== "EPIPE") throw error;
}

/** The line that pino would write of a request, put together by hand: there is one for every request. */
function requestLine(
  level: number,
  time: string,
  { requestId, method, path, status, ms, code, warning }: Outcome,
): string {
  const because = code === undefined ? "" : `,"code":"${code}"`;
  const warned = warning === undefined ? "" : `,"warning":${JSON.stringify(warning)}`;
  const name = SAFE.test(path) ? path : JSON.stringify(printable(path)).slice(1, -1);
  return `{"level":${level}${time},"requestId":"${requestId}","method":"${method}","path":"${name}","status":${status},"ms":${Math.round(ms * 1000) / 1000}${because}${warned}}\n`;
}

/** A path that stands in JSON and on a terminal as it is. */
const SAFE = /^[\x20!#-[\]-~]*$/;

/** The wall clock as a log line's member; many lines share a millisecond. */
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

/** A path without anything that a terminal could take for a command. */
const printable = (path: string): string =>
  path.replace(/[^\x20-\x7e]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);

interface Line {
  readonly time: string;
  readonly method?: string;
  readonly path?: string;
  readonly status?: number;
  readonly ms?: number;
  readonly code?: string;
  readonly warning?: string;
  readonly msg?: string;
  readonly err?: { readonly stack?: string };
}

function pretty(json: string): string {
  const { time, method, path, status, ms, code, warning, msg, err } = JSON.parse(json) as Line;
  const clock = pc.dim(time.slice(11, 23));
  if (method === undefined || status === undefined) {
    return `${clock} ${pc.red(msg ?? "")}${err?.stack === undefined ? "" : `\n${err.stack}`}\n`;
  }
  const paint = status === 0 || status >= 500 ? pc.red : status < 400 ? pc.green : pc.yellow;
  const duration = pc.dim(`${(ms ?? 0).toFixed(1)} ms`.padStart(9));
  const because = code === undefined ? "" : ` ${paint(code)}`;
  const warned = warning === undefined ? "" : ` ${pc.yellow(warning)}`;
  return `${clock} ${method.padEnd(6)} ${paint(String(status))} ${duration} ${path ?? ""}${because}${warned}\n`;
}
