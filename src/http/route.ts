import { type AnyBody, isRaw } from "../wire/endpoint.ts";
import type { AnyEndpoint } from "../wire/endpoints/all.ts";
import type { JsonObject } from "../wire/json-body.ts";
import { readJsonObject } from "../wire/json-body.ts";
import { unknownFieldsWarning } from "../wire/nearest.ts";
import { readQuery } from "../wire/query.ts";
import { authenticate, guardControl } from "./authentication.ts";
import type { Incoming, Outgoing } from "./exchange-message.ts";
import type { Answer, Call } from "./handler.ts";
import { befall } from "./injected-fault.ts";
import { announcedLength, checkMediaType, isChunked, NO_BODY, readBody } from "./raw-body.ts";
import { sendAnswer, sendError } from "./send.ts";
import type { Service } from "./service.ts";

export type AnyHandler = (call: Call<unknown, unknown>, service: Service) => Answer | Promise<Answer>;

/** A request as express hands it on, with the path's parameters. */
type Routed = Incoming & { readonly params: Record<string, string> };
export type Route = (request: Routed, response: Outgoing) => void;

const KIB = 1024;
/** Bytes of a body on the imitated API, and on the control plane and the chain. */
const MAX_BODY = 64 * KIB;
const MAX_LARGE_BODY = 1024 * KIB;

/** What one endpoint does with a request: who asks, body, faults, time, signature, query, the body's meaning, answer. */
export function routeOf(service: Service, endpoint: AnyEndpoint, handle: AnyHandler): Route {
  const maximum = endpoint.access === "control" || isRaw(endpoint.body) ? MAX_LARGE_BODY : MAX_BODY;
  const { faults, keeper } = service;
  return (request, response) => {
    const fail = (error: unknown): void => sendError(service, request, response, error);
    const answerWith = (body: Buffer): void => {
      try {
        if (body.length > 0 && isChunked(request)) checkMediaType(request);
        const { broken } = keeper;
        const answer = answerOf(service, endpoint, handle, request, body);
        if (answer instanceof Promise) {
          answer
            .finally(() => {
              // What it shows may have been undone while it was being made.
              if (keeper.broken !== broken) throw keeper.broken;
            })
            .then((late) => sendAnswer(service, request, response, late))
            .catch(fail)
            .finally(() => service.clock.arm());
        } else {
          sendAnswer(service, request, response, answer);
        }
      } catch (error) {
        fail(error);
      }
      service.clock.arm();
    };
    const arrived = (body: Buffer): void => {
      const fault = faults.areNone ? null : faults.strike(endpoint.operation);
      if (fault === null) answerWith(body);
      else befall(service, fault, request, response, () => answerWith(body));
    };
    try {
      if (endpoint.access === "control") guardControl(service.options, request);
      if (!isChunked(request)) {
        if (announcedLength(request) === 0) {
          arrived(NO_BODY);
          return;
        }
        checkMediaType(request);
      }
    } catch (error) {
      fail(error);
      return;
    }
    readBody(request, maximum, (error, body) => (error === null ? arrived(body) : fail(error)));
  };
}

function answerOf(
  service: Service,
  endpoint: AnyEndpoint,
  handle: AnyHandler,
  request: Routed,
  body: Buffer,
): Answer | Promise<Answer> {
  service.clock.settle();
  const caller = endpoint.access === "signed" ? authenticate(service, request, body) : "";
  const query = readQuery(endpoint.query, request.url, (unknown) =>
    warn(request, unknown, Object.keys(endpoint.query)),
  );
  const call = {
    query,
    body: bodyOf(endpoint.body, request, body),
    path: request.params,
    caller,
    headers: request.headers,
    rawHeaders: request.rawHeaders,
  };
  return handle(call, service);
}

function bodyOf(spec: AnyBody, request: Incoming, bytes: Buffer): unknown {
  if (spec === null) return null;
  if (isRaw(spec)) return bytes;
  const object: JsonObject = bytes.length === 0 && !spec.required ? {} : readJsonObject(bytes);
  const unknown = Object.keys(object).filter((name) => !spec.fields.includes(name));
  if (unknown.length > 0) warn(request, unknown, spec.fields);
  return spec.read(object);
}

function warn(request: Incoming, unknown: readonly string[], known: readonly string[]): void {
  const warning = unknownFieldsWarning(unknown, known);
  request.warning = request.warning === "" ? warning : `${request.warning}; ${warning}`;
}
