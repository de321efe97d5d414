import { request } from "node:http";

/** A request as a client means it. */
export interface Call {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Empty when there is none. */
  readonly body: string;
}

/** What a server answered. */
export interface Answer {
  /** Flat pairs in the order they came, without those of the connection. */
  readonly headers: readonly string[];
  readonly body: string;
}

/** A read without headers of its own. */
export const get = (path: string): Call => ({ method: "GET", path, headers: {}, body: "" });

/** A JSON body sent to a path. */
export const post = (path: string, body: object, headers: Call["headers"] = {}): Call => ({
  method: "POST",
  path,
  headers: { ...headers, "content-type": "application/json" },
  body: JSON.stringify(body),
});

/** The request's bytes, as a client sends them to this machine. */
export function bytesOf({ method, path, headers, body }: Call, port: number): Buffer {
  const lines = [`${method} ${path} HTTP/1.1`, `host: 127.0.0.1:${port}`];
  for (const [name, value] of Object.entries(headers)) lines.push(`${name}: ${value}`);
  if (body !== "") lines.push(`content-length: ${Buffer.byteLength(body)}`);
  return Buffer.from(`${lines.join("\r\n")}\r\n\r\n${body}`);
}

/** Sends one request and answers what comes back. @throws Error when that is not a 200. */
export function answerTo({ method, path, headers, body }: Call, port: number): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request({ port, host: "127.0.0.1", method, path, headers, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("end", () => {
        const text = Buffer.concat(chunks).toString();
        if (response.statusCode !== 200)
          reject(new Error(`${method} ${path}: ${response.statusCode} ${text}`));
        else resolve({ headers: withoutConnection(response.rawHeaders), body: text });
      });
      response.on("error", reject);
    });
    sent.on("error", reject);
    sent.end(body);
  });
}

function withoutConnection(rawHeaders: readonly string[]): string[] {
  const kept: string[] = [];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string;
    if (!/^(?:connection|keep-alive)$/i.test(name)) kept.push(name, rawHeaders[at + 1] as string);
  }
  return kept;
}
