import { spawn } from "node:child_process";
import { once } from "node:events";
import { connect, createServer } from "node:net";
import { setTimeout as delay } from "node:timers/promises";

const REQUEST = "GET /clob/time HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n";
const OK = "HTTP/1.1 200 ";
const RETRY_MS = 1;

/**
 * Milliseconds from the start of a Node program that serves on the port it is given to its first 200, asked for every
 * millisecond.
 * @throws Error when it ends or answers anything else.
 */
export async function millisecondsToFirstAnswer(
  argsFor: (port: number) => readonly string[],
): Promise<number> {
  const port = await freePort();
  const start = performance.now();
  const child = spawn(process.execPath, argsFor(port), { stdio: "ignore" });
  const exit = once(child, "exit");
  const kill = (): void => void child.kill("SIGKILL");
  process.once("exit", kill);
  try {
    for (;;) {
      const answer = await answerOf(port);
      if (answer.startsWith(OK)) return performance.now() - start;
      if (answer !== "") throw new Error(`${argsFor(port).join(" ")} answered ${answer}`);
      if (child.exitCode !== null) throw new Error(`${argsFor(port).join(" ")} ended with ${child.exitCode}`);
      await delay(RETRY_MS);
    }
  } finally {
    kill();
    process.off("exit", kill);
    await exit;
  }
}

/** Milliseconds from the start of a Node program to its end. @throws Error when it fails. */
export async function millisecondsToEnd(args: readonly string[]): Promise<number> {
  const start = performance.now();
  const [code] = await once(spawn(process.execPath, args, { stdio: "ignore" }), "exit");
  const milliseconds = performance.now() - start;
  if (code !== 0) throw new Error(`${args.join(" ")} ended with ${code}`);
  return milliseconds;
}

/** What a server answers, or nothing when none listens yet. */
function answerOf(port: number): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => socket.write(REQUEST));
    socket.on("error", () => resolve(""));
    socket.once("data", (bytes: Buffer) => {
      resolve(bytes.toString("latin1"));
      socket.destroy();
    });
  });
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === "string") throw new Error("no port is free");
  return address.port;
}
