import { type AnyBody, isRaw } from "../api/endpoint.ts";
import type { AnyEndpoint } from "../api/endpoints/all.ts";
import type { JsonObject } from "../api/json-body.ts";
import { readJsonObject } from "../api/json-body.ts";
import { readQuery } from "../api/query.ts";
import {
  type UnknownFields,
  unknownFieldsAt,
  unknownFieldsError,
  unknownFieldsText,
} from "../api/unknown-fields.ts";
import { authenticate, guardControl } from "./authentication.ts";
import type { Incoming, Outgoing } from "./exchange-message.ts";
import type { Answer, Call } from "./handler.ts";
import { befall } from "./injected-fault.ts";
import { noteRefusal } from "./note-refusal.ts";
import { announcedLength, checkMediaType, isChunked, NO_BODY, readBody } from "./raw-body.ts";
import { sendAnswer, sendError } from "./send.ts";
import type { Service } from "./service.ts";

export type AnyHandler = (call: Call<unknown, unknown>, service: Service) => Answer | Promise<Answer>;

/** A request as express hands it on, with the path's parameters. */
export type Routed = Incoming & { readonly params: Record<string, string> };
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
    const fail = (error: unknown, body: Buffer = NO_BODY): void => {
      noteRefusal(service, endpoint, request, body, error);
      sendError(service, request, response, error);
    };
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
            .catch((error: unknown) => fail(error, body))
            .finally(() => service.clock.arm());
        } else {
          sendAnswer(service, request, response, answer);
        }
      } catch (error) {
        fail(error, body);
      }
      service.clock.arm();
    };
    const arrived = (body: Buffer): void => {
      if (isRaw(endpoint.body)) request.rawBody = body;
      const fault = faults.areNone ? null : faults.strike(endpoint.operation);
      if (fault === null) answerWith(body);
      else befall(service, fault, request, response, () => answerWith(body));
    };
    try {
      if (endpoint.access === "control") guardControl(service.options, request);
      if (!isChunked(request)) {
        if (announcedLength(request) === 0) return arrived(NO_BODY);
        checkMediaType(request);
      }
    } catch (error) {
      return fail(error);
    }
    readBody(request, maximum, (error, body) => (error === null ? arrived(body) : fail(error)));
  };
}

/**
 * The answer to a request that has come in whole: what is due first, then signature, query, body and handler.
 * @throws ApiError when it is refused.
 */
export function answerOf(
  service: Service,
  endpoint: AnyEndpoint,
  handle: AnyHandler,
  request: Routed,
  body: Buffer,
): Answer | Promise<Answer> {
  service.clock.settle();
  if (endpoint.access === "signed") request.caller = authenticate(service, request, body);
  const call = {
    query: queryOf(service, endpoint, request),
    body: bodyOf(service, endpoint, request, body),
    path: request.params,
    caller: request.caller,
    headers: request.headers,
    rawHeaders: request.rawHeaders,
  };
  return handle(call, service);
}

function queryOf(service: Service, endpoint: AnyEndpoint, request: Incoming): unknown {
  return readQuery(
    endpoint.query,
    request.url,
    (unknown) => meetUnknown(service, endpoint, request, unknown, Object.keys(endpoint.query)),
    (sentence) => warn(request, sentence),
  );
}

function bodyOf(service: Service, endpoint: AnyEndpoint, request: Incoming, bytes: Buffer): unknown {
  const spec: AnyBody = endpoint.body;
  if (spec === null) {
    if (bytes.length > 0) readNeedless(service, endpoint, request, bytes);
    return null;
  }
  if (isRaw(spec)) return bytes;
  const object: JsonObject = bytes.length === 0 && !spec.required ? {} : readJsonObject(bytes);
  const unknown = Object.keys(object).filter((name) => !spec.fields.includes(name));
  if (unknown.length > 0) meetUnknown(service, endpoint, request, unknown, spec.fields);
  return spec.read(object);
}

/** Looks at a body that is sent to an endpoint that takes none: every field in it is unknown. */
function readNeedless(service: Service, endpoint: AnyEndpoint, request: Incoming, bytes: Buffer): void {
  let object: JsonObject = {};
  try {
    object = readJsonObject(bytes);
  } catch (error) {
    if (policyOf(service, endpoint) === "refuse") throw error;
    warn(request, "the body is ignored: it is not a JSON object, and none is expected");
  }
  const unknown = Object.keys(object);
  if (unknown.length > 0) meetUnknown(service, endpoint, request, unknown, []);
}

const policyOf = (service: Service, endpoint: AnyEndpoint): UnknownFields =>
  unknownFieldsAt(endpoint, service.options.unknownFields);

/** Refuses a request with unknown fields, or warns of them. */
function meetUnknown(
  service: Service,
  endpoint: AnyEndpoint,
  request: Incoming,
  unknown: readonly string[],
  known: readonly string[],
): void {
  if (policyOf(service, endpoint) === "refuse") throw unknownFieldsError(unknown, known, endpoint);
  warn(request, unknownFieldsText(unknown, known));
}

function warn(request: Incoming, sentence: string): void {
  request.warning = request.warning === "" ? sentence : `${request.warning}; ${sentence}`;
}
