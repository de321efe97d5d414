import { isCausedByTime } from "../core/commands.ts";
import { readCommand } from "../core/document/command-record.ts";
import { DocumentError } from "../core/document/document-error.ts";
import { Fields } from "../core/document/fields.ts";
import {
  address,
  anyBoolean,
  anyObject,
  anyText,
  type FieldReader,
  integer,
  oneOf,
  orNull,
  placeOf,
  type Shape,
  shaped,
  textLike,
} from "../core/document/shape.ts";
import type { AskedFor, RefusedRequest } from "../core/refusals.ts";

type AskedIn<Kind extends AskedFor["kind"]> = Extract<AskedFor, { readonly kind: Kind }>;

const askedCommand: FieldReader<AskedIn<"command">["command"]> = (fields, key) => {
  const command = readCommand(fields.value(key), placeOf(fields, key));
  fields.demand(!isCausedByTime(command), key, "a command that somebody gives");
  return command;
};

const textsByName: FieldReader<AskedIn<"request">["query"]> = (fields, key) => {
  const found = anyObject(fields, key) as Record<string, unknown>;
  fields.demand(
    Object.values(found).every((value) => typeof value === "string"),
    key,
    "texts by their names",
  );
  return found as AskedIn<"request">["query"];
};

const scalars: FieldReader<AskedIn<"request">["body"]> = (fields, key) => {
  const found = anyObject(fields, key) as Record<string, unknown>;
  const areScalars = Object.values(found).every((value) => typeof value !== "object" || value === null);
  fields.demand(areScalars, key, "texts, numbers, true, false and null by their names");
  return found as AskedIn<"request">["body"];
};

const COMMAND: Shape<AskedIn<"command">> = { kind: oneOf("command"), command: askedCommand };
const REQUEST: Shape<AskedIn<"request">> = {
  kind: oneOf("request"),
  body: scalars,
  query: textsByName,
  isCut: anyBoolean,
};

const asked: FieldReader<AskedFor> = (fields, key) => {
  const value = fields.value(key);
  const path = `${fields.path}.${key}`;
  const kind = Fields.kindIn(value);
  if (kind === "command") return shaped(COMMAND, value, fields.where, path);
  if (kind === "request") return shaped(REQUEST, value, fields.where, path);
  throw new DocumentError(fields.where, `${path}.kind`, "command or request", kind);
};

/** What a line of a refused request holds. */
export const REFUSED: Shape<RefusedRequest> = {
  method: oneOf("POST", "DELETE"),
  path: anyText,
  address: orNull(address),
  isProven: anyBoolean,
  status: integer(400, 499),
  code: textLike(/^[A-Z_]{1,64}$/, "an error code"),
  field: orNull(anyText),
  asked: orNull(asked),
};
