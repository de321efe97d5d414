import * as z from "zod";
import { endpoints, oneOf, optional, type Param } from "./endpoint.ts";
import * as field from "./schemas.ts";
import { exactly, named } from "./schemas.ts";

const MAX_NAME = 200;

/** Declares a parameter of one line of text. */
const oneLine = (description: string): Param<string | undefined> =>
  optional(
    `${description}, one line of at most ${MAX_NAME} characters.`,
    { type: "string", minLength: 1, maxLength: MAX_NAME },
    `one line of 1 to ${MAX_NAME} characters`,
    (text) =>
      text.trim() !== "" && text.length <= MAX_NAME && !/[\p{Cc}\p{Cs}]/u.test(text) ? text : undefined,
  );

/** Description of the live feed; `event-stream.ts` has its types. */
const STREAM = `The contents of the journal as events of \`text/event-stream\`. The data of each event is one line of JSON; times are virtual Unix ms.

- \`opening\`: where the reader starts. Its \`reason\` is the requested \`start\` or \`now\`; or the reader starts with the current state, because it was too slow (\`slow\`), a snapshot was restored or the exchange was reset (\`putBack\`; the \`request\` that did it follows), the id is not in memory (\`unknown\`), or the session is too long (\`tooLong\`). With all reasons but \`now\` it has \`config\`, \`start\` and \`base\`, like the first line of a journal; \`base.content.clobsim.digest\` is the digest of the history.
- \`command\`: \`s\` sequence, \`t\` time, \`k\` kind, \`d\` fields, \`r\` 8 hex digits of a hash of its events.
- \`refused\`: a refused request, as in the journal. \`clock\`: a change of the clock's mode or rate.
- \`request\`: a request that could change something, or that failed: \`requestId\`, \`method\`, \`path\`, \`status\`, wall \`ms\`, \`code\`, \`fault\`, \`caller\`, and \`first\` and \`last\` of the commands accepted between its start and its answer. Each push has at most 20 successful requests with commands outside \`/sim\`.

An id begins with the sequence of the latest command. A reader that sends it as \`Last-Event-ID\` resumes after that entry without gaps or repeats, or gets an \`opening\` if that is impossible. Entries are sent only once they are durable. A reader with \`from=start\` also gets earlier commands and refused requests, whose ids end in \`-start\`. The server sends at most 30 times a second, and a comment every 15 s.`;

const ENTRY_ID = /^\d{1,15}(?:(?:\.\d{1,15})?-[0-9a-f]{8}(?:-start)?)?$/;

export const entryId = optional(
  "Id of the entry after which to resume; the header `Last-Event-ID` takes precedence.",
  { type: "string" },
  "the id of an entry such as 1893-5f0a91cc, or the sequence of a command",
  (text) => (ENTRY_ID.test(text) ? text : undefined),
);

/** GET /sim/scenario: the session as a checked scenario (contract, section 7); GET /sim/report: the session for replay. */
export const recordingEndpoints = endpoints("control", "Control plane", {
  recordScenario: {
    route: "GET /sim/scenario",
    summary: "The session since the exchange was opened, as a scenario file that passes",
    query: { name: oneLine("Name of the scenario") },
    reply: exactly(
      "RecordedScenario",
      {
        name: z.string(),
        scenario: z.string().meta({ description: "A scenario file, YAML, that passes." }),
        orders: field.count,
        trades: field.count,
      },
      "The session since the exchange was opened, with its results.",
    ),
    errors: ["SESSION_TOO_LONG", "SESSION_NOT_RECORDABLE"],
  },
  reportSession: {
    route: "GET /sim/report",
    summary: "A bug report: everything needed to replay the session on another machine",
    query: { reason: oneLine("Reason for the report") },
    reply: named(
      "Report",
      z.string(),
      "A journal with one JSON object per line: how the exchange was opened, every command with a hash of its events, and the hash of the state. `clobsim replay FILE` replays it.",
    ),
    media: "application/x-ndjson",
    errors: ["SESSION_TOO_LONG", "UNAVAILABLE"],
  },
  streamSession: {
    route: "GET /sim/stream",
    summary: "Live feed of the exchange: endless Server-Sent Events",
    description: STREAM,
    query: {
      from: oneOf(["start", "now"], "Start with the session, or with the next entry (default)."),
      since: entryId,
    },
    reply: named(
      "Stream",
      z.string(),
      "Events `opening`, `command`, `refused`, `clock` and `request`; the data of each is a JSON object in one line.",
    ),
    media: "text/event-stream",
    errors: ["UNAVAILABLE"],
  },
});
