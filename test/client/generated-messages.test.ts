import { fileURLToPath } from "node:url";
import { expect, expectTypeOf, it } from "vitest";
import type * as api from "../../src/api/endpoints.ts";
import type { ErrorCode } from "../../src/api/errors.ts";
import type * as control from "../../src/client/control-messages.ts";
import type { Replies as ClientReplies } from "../../src/client/reply-messages.ts";
import type * as service from "../../src/client/service-messages.ts";
import { laidOut } from "../support/laid-out.ts";
import { messagesText } from "./messages-text.ts";

/** What JSON carries of a type, for reading. */
type Message<T> = T extends readonly (infer Item)[]
  ? readonly Message<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: Message<Exclude<T[Key], undefined>> }
    : T;

/** The names under which two tables hold different messages. */
type Differing<One, Other extends { readonly [Key in keyof One]: unknown }> = {
  [Key in keyof One]: Same<Message<One[Key]>, Message<Other[Key]>> extends true ? never : Key;
}[keyof One];
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;

it.each(Object.entries(messagesText()))(
  "the %s messages of the client are those of the schemas",
  async (name, text) => {
    const path = fileURLToPath(new URL(`../../src/client/${name}-messages.ts`, import.meta.url));
    await expect(laidOut(text, path)).toMatchFileSnapshot(path);
  },
);

it("and of the types that handlers and readers of requests go by", () => {
  type Replies = { readonly [O in api.Operation]: api.ReplyTo<O> };
  expectTypeOf<keyof ClientReplies>().toEqualTypeOf<api.Operation>();
  expectTypeOf<Differing<ClientReplies, Replies>>().toBeNever();
  expectTypeOf<Differing<Bodies, { readonly [R in keyof Bodies]: api.BodyAt<R> }>>().toBeNever();
  expectTypeOf<Differing<Filters, { readonly [R in keyof Filters]: api.QueryAt<R> }>>().toBeNever();
  expectTypeOf<service.ErrorCode>().toEqualTypeOf<ErrorCode>();
});

interface Bodies {
  "POST /clob/order": service.OrderBody;
  "POST /sim/clock": control.NewClock;
  "POST /sim/accounts/{address}/fund": control.Funding;
  "POST /sim/events": control.NewEvent;
  "POST /sim/markets": control.NewMarket;
  "POST /sim/markets/{idOrSlug}/resolve": control.Resolution;
  "POST /sim/explain-auth": control.PastedRequest;
  "POST /sim/chain/faults": control.NewSettlementFault;
  "POST /sim/faults": control.NewFault;
}
interface Filters {
  "GET /api/events": service.EventFilter;
  "GET /api/markets": service.MarketFilter;
  "GET /api/markets/{idOrSlug}/trades": service.MarketTradeFilter;
  "GET /api/markets/{idOrSlug}/prices-history": service.HistoryRange;
}
