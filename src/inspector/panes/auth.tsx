import { useSignal } from "@preact/signals";
import { explainAuth, type PastedRequest } from "../../api/authentication.ts";
import { Keyring } from "../../engine/keyring.ts";
import * as model from "../model.ts";
import { bindTo, Pane } from "../parts.tsx";

type Explained = ReturnType<typeof explainAuth>;

/** Explains why a signed request gets a 401: each check, and the text that must be signed. */
export function AuthPane() {
  const pasted = useSignal("");
  const signed = useSignal("");
  const found = useSignal<Explained | string | null>(null);
  const explain = (event: Event): void => {
    event.preventDefault();
    const { exchange, state, now } = model.openMoment();
    const request = readRequest(pasted.value);
    const keyring = new Keyring(exchange, state.config.seed);
    const time = Math.floor(now / 1000);
    const where = { time, host: location.host || undefined, prefix: model.server.value?.prefix ?? "" };
    found.value =
      typeof request === "string" ? request : explainAuth(request, (key) => keyring.find(key), where);
  };
  return (
    <Pane name="auth">
      <form class="stack" onSubmit={explain}>
        <label>
          A signed request, as a curl command or as HTTP
          <textarea name="request" rows={7} spellcheck={false} placeholder={EXAMPLE} {...bindTo(pasted)} />
        </label>
        <label>
          The text that your code signed, if you have it
          <textarea name="signed" rows={2} spellcheck={false} {...bindTo(signed)} />
        </label>
        <p class="row">
          <button type="submit">Explain</button>
          <span class="dim">checked at the cursor's time, with the keys of this exchange</span>
        </p>
      </form>
      <div role="status">
        {found.value === null ? null : <Verdict of={found.value} signed={signed.value} />}
      </div>
    </Pane>
  );
}

const EXAMPLE = `curl -X POST http://localhost:7070/clob/order \\
  -H 'poly_address: 0x…' -H 'poly_signature: …' … \\
  -d '{"tokenId":"…","side":"BUY","price":0.5,"size":10}'`;

function Verdict({ of, signed }: { readonly of: Explained | string; readonly signed: string }) {
  if (typeof of === "string") return <p class="wrong">{of}</p>;
  const { verdict, hint, checks, canonicalMessage } = of;
  return (
    <>
      <p class={verdict === "OK" ? "right" : "wrong"}>
        <strong>{verdict === "OK" ? "This request is accepted." : verdict}</strong>
        {hint === null ? "" : `: ${hint}`}
      </p>
      <ol class="checks">
        {checks.map(({ check, ok, message }) => (
          <li key={check} data-ok={String(ok)}>
            <span aria-hidden="true">{ok === null ? "–" : ok ? "✓" : "✗"}</span>
            <span>
              <b>{`${check}${ok === false ? " (wrong)" : ""}`}</b>
              {`: ${message}`}
            </span>
          </li>
        ))}
      </ol>
      <h3>Text to sign</h3>
      <Message text={canonicalMessage} other={signed} />
      {signed === "" ? null : (
        <>
          <h3>Text that your code signed</h3>
          <Message text={signed} other={canonicalMessage} />
          <p class={signed === canonicalMessage ? "right" : "wrong"}>
            {differenceOf(canonicalMessage, signed)}
          </p>
        </>
      )}
    </>
  );
}

/** Text with its difference from another marked. */
function Message({ text, other }: { readonly text: string; readonly other: string }) {
  if (other === "" || text === other) return <pre>{text}</pre>;
  const [start, end] = commonEnds(text, other);
  return (
    <pre>
      {text.slice(0, start)}
      <mark>{text.slice(start, text.length - end) || " "}</mark>
      {text.slice(text.length - end)}
    </pre>
  );
}

/** Returns the lengths of the common prefix and suffix of two texts. */
function commonEnds(a: string, b: string): readonly [start: number, end: number] {
  const maximum = Math.min(a.length, b.length);
  let start = 0;
  while (start < maximum && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < maximum - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end += 1;
  return [start, end];
}

function differenceOf(expected: string, found: string): string {
  if (expected === found) return "The texts are the same: the key or the signature differs.";
  const [start, end] = commonEnds(expected, found);
  const part = (text: string): string => JSON.stringify(text.slice(start, text.length - end));
  return `They differ from character ${start + 1} on: expected ${part(expected)}, found ${part(found)}.`;
}

/** Parses a curl command or an HTTP request; returns an error message if it is neither. */
function readRequest(text: string): PastedRequest | string {
  const trimmed = text.trim();
  if (trimmed === "") return "paste a request first";
  return /^\$?\s*curl\s/.test(trimmed) ? ofCurl(trimmed) : ofHttp(trimmed);
}

const DATA = new Set(["-d", "--data", "--data-raw", "--data-binary", "--json"]);

function ofCurl(text: string): PastedRequest | string {
  const words = splitWords(text);
  const headers: Record<string, string> = {};
  let [method, url, body] = ["", "", undefined as string | undefined];
  for (let at = 1; at < words.length; at += 1) {
    const word = words[at] as string;
    const next = (): string => {
      at += 1;
      return words[at] ?? "";
    };
    if (word === "-X" || word === "--request") method = next();
    else if (word === "-H" || word === "--header") addHeader(headers, next());
    else if (DATA.has(word)) body = next();
    else if (/^(https?:\/\/|\/)/.test(word)) url = word;
    else if (word === "--url") url = next();
  }
  if (url === "") return "no URL: expected one such as http://localhost:7070/clob/order";
  return { method: method || (body === undefined ? "GET" : "POST"), url, headers, body };
}

/** Splits a command line into words without quotes. */
function splitWords(text: string): string[] {
  const joined = text.replace(/\\\r?\n/g, " ");
  const found = joined.match(/(?:'[^']*'|"(?:\\.|[^"\\])*"|\\.|[^\s'"\\])+/gs) ?? [];
  return found.map((word) =>
    word.replace(
      /'([^']*)'|"((?:\\.|[^"\\])*)"|\\(.)/gs,
      (_all, plain, quoted, escaped) => plain ?? quoted?.replace(/\\(["\\$`])/g, "$1") ?? escaped ?? "",
    ),
  );
}

function addHeader(headers: Record<string, string>, text: string): void {
  const colon = text.indexOf(":");
  if (colon > 0) headers[text.slice(0, colon).trim()] = text.slice(colon + 1).trim();
}

function ofHttp(text: string): PastedRequest | string {
  const [head = "", ...rest] = text.replaceAll("\r\n", "\n").split("\n\n");
  const [first = "", ...lines] = head.split("\n");
  const [, method, url] = /^([A-Za-z]+)\s+(\S+)/.exec(first) ?? [];
  if (method === undefined || url === undefined) {
    return 'expected a line such as "POST /clob/order", then its headers, an empty line and the body; or a command line of curl';
  }
  const headers: Record<string, string> = {};
  for (const line of lines) addHeader(headers, line);
  return { method, url, headers, body: rest.join("\n\n") };
}
