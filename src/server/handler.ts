import type { IncomingHttpHeaders } from "node:http";
import type { BodySpec, RawBody } from "../api/endpoint.ts";
import type { EndpointOf, Operation } from "../api/endpoints/all.ts";
import type { Params, Read } from "../api/params.ts";
import type { Address } from "../core/terms.ts";
import type { Service } from "./service.ts";

type QueryOf<E> = E extends { readonly query: infer Q extends Params } ? Read<Q> : never;
type BodyOf<E> = E extends { readonly body: BodySpec<infer Body> }
  ? Body
  : E extends { readonly body: RawBody }
    ? Buffer
    : null;

/** A request as a handler sees it: read, checked and, where the endpoint asks for it, authenticated. */
export interface Call<Query, Body> {
  readonly query: Query;
  readonly body: Body;
  /** The path's parameters, decoded. */
  readonly path: Readonly<Record<string, string>>;
  /** The caller's address; empty unless the endpoint is signed. */
  readonly caller: Address;
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
}

export const JSON_MEDIA = "application/json; charset=utf-8";

/** JSON that stands as text already, a document unless its media type says something else. */
export class JsonText {
  readonly text: string;
  readonly media: string;

  constructor(text: string, media: string = JSON_MEDIA) {
    this.text = text;
    this.media = media;
  }
}

/** An answer that is made while it is sent: however long it is, little of it is in memory at a time. */
export class Pieces {
  readonly pieces: Iterable<string | Uint8Array>;
  readonly media: string;

  constructor(pieces: Iterable<string | Uint8Array>, media: string = JSON_MEDIA) {
    this.pieces = pieces;
    this.media = media;
  }
}

/** Nothing to answer: 204, without a body. */
export const SILENCE = new JsonText("");

export type Answer = object | JsonText | Pieces;

/** What one endpoint does: from a checked request to the body of its 200 answer. */
export type Handler<O extends Operation> = (
  call: Call<QueryOf<EndpointOf<O>>, BodyOf<EndpointOf<O>>>,
  service: Service,
) => Answer | Promise<Answer>;

/** The handlers of some endpoints; the compiler sees to it that none is missing. */
export type Handlers<O extends Operation> = { readonly [Name in O]: Handler<Name> };
