import { checksummed, readAddress } from "../../api/address.ts";
import { MONEY_PLACES, SIZE_PLACES, unitsOf } from "../../api/decimals.ts";
import { ApiError } from "../../api/errors.ts";
import { explainAuth } from "../../api/explain-auth.ts";
import { accountReply } from "../../api/replies/account-reply.ts";
import { orderStory } from "../../api/replies/order-story.ts";
import { pageOf } from "../../api/replies/view.ts";
import { canonicalLines } from "../../core/canonical.ts";
import { houseAddress, numberOf } from "../../core/ids.ts";
import { invariantsInSteps } from "../../core/invariants/invariants.ts";
import { emptyAccount, findAccount } from "../../core/state.ts";
import { toIso } from "../../core/time.ts";
import { type Money, money, type Size, size } from "../../core/units.ts";
import { type Handlers, JsonText, Pieces } from "../handler.ts";
import { type Service, viewOf } from "../service.ts";
import { inPieces } from "../write-pieces.ts";
import { changeClock, clockReply } from "./clock.ts";
import { submit } from "./trading.ts";

/** The control plane /sim, apart from creating and ending markets. */
export const controlHandlers: Handlers<
  | "getInfo"
  | "getClock"
  | "setClock"
  | "reset"
  | "getState"
  | "getStateHash"
  | "getInvariants"
  | "listAccounts"
  | "getAccount"
  | "fundAccount"
  | "explainOrder"
  | "explainAuth"
  | "getHealth"
  | "getOpenApi"
> = {
  getInfo: (_call, service) => infoReply(service),
  getClock: (_call, service) => clockReply(service),
  setClock: ({ body }, service) => changeClock(service, body),
  reset: (_call, service) => {
    service.reopen();
    return infoReply(service);
  },
  getState: (_call, { exchange }) => new Pieces(inPieces(canonicalLines(exchange.snapshot().state))),
  getStateHash: (_call, { exchange }) => ({ hash: exchange.hash, sequence: exchange.sequence }),
  getInvariants: async (_call, { exchange, slices }) => {
    const judged = await slices.run(invariantsInSteps(exchange.snapshot().state));
    return { hold: judged.every(({ holds }) => holds), invariants: judged };
  },
  listAccounts: ({ query }, service) => {
    const view = viewOf(service);
    const { accounts } = view.state;
    return pageOf(accounts.size, query, (index) => accountReply(view, accounts.get(index + 1)));
  },
  getAccount: ({ path }, service) => accountOf(service, addressIn(path)),
  fundAccount: ({ path, body }, service) => {
    const address = addressIn(path);
    const tokens = Object.entries(body.tokens ?? {}).map(([tokenId, shares]) => ({
      tokenId,
      size: exact<Size>(`tokens.${tokenId}`, shares, SIZE_PLACES, size),
    }));
    const collateral = exact<Money>("collateral", body.collateral ?? 0, MONEY_PLACES, money);
    submit(service, { kind: "fundAccount", address, collateral, tokens, everyMarket: size(0) });
    return accountOf(service, address);
  },
  explainOrder: ({ path }, service) => {
    const view = viewOf(service);
    const id = path.id ?? "";
    const order = view.state.orders.find(numberOf(view.state.idPrefixes.order, id));
    if (order === undefined)
      throw new ApiError("ORDER_NOT_FOUND", `no order ${JSON.stringify(id.slice(0, 80))}`);
    return orderStory(view, order);
  },
  explainAuth: ({ body, headers: { host } }, service) => {
    if (body.url === undefined && body.path === undefined) {
      throw new ApiError("INVALID_PARAMETER", "url: expected the URL or path of the request, found nothing", {
        hint: "send { method, url, headers, body } of the request as it was sent",
        details: { fields: ["url"] },
      });
    }
    const time = Math.floor(service.exchange.now / 1000);
    return explainAuth(body, (apiKey) => service.keyring.find(apiKey), { time, host });
  },
  getOpenApi: async (_call, service) => new JsonText(await service.openApi()),
  getHealth: (_call, { exchange }) => ({ status: "ok", time: toIso(exchange.now) }),
};

/** What GET /sim tells of the exchange, its clock and its configuration. */
export function infoReply(service: Service): object {
  const { exchange, numbers, options } = service;
  const { state } = exchange;
  const { seed, faucet } = state.config;
  return {
    name: "clobsim",
    version: options.version,
    seed,
    clock: clockReply(service),
    sequence: exchange.sequence,
    stateHash: exchange.hash,
    config: {
      numbers: numbers.mode,
      credentials: options.credentials,
      personalSign: options.personalSign,
      unknownFields: options.unknownFields,
      settlement: state.config.settlement,
      balances: state.config.balances,
      faucet: {
        collateral: numbers.money(faucet.collateral),
        sharesOfEveryToken: numbers.size(faucet.everyMarket),
      },
    },
    events: state.events.size,
    markets: state.markets.size,
    orders: state.orders.size,
    trades: state.trades.size,
    devAccounts: options.devAccounts,
    houseAccounts: {
      faucet: checksummed(houseAddress(seed, "faucet")),
      fees: checksummed(houseAddress(seed, "fees")),
    },
  };
}

function addressIn(path: Readonly<Record<string, string>>): string {
  const text = path.address ?? "";
  const address = readAddress(text);
  if (address === null) {
    throw new ApiError(
      "INVALID_PARAMETER",
      `${JSON.stringify(text.slice(0, 80))} is no address: expected 0x and 40 hex digits`,
    );
  }
  return address;
}

/** An address that never came here has nothing, like any address of a chain. */
function accountOf(service: Service, address: string): object {
  const view = viewOf(service);
  return accountReply(view, findAccount(view.state, address) ?? emptyAccount(0, address));
}

function exact<Unit extends number>(
  field: string,
  value: number,
  places: number,
  unit: (units: number) => Unit,
): Unit {
  const units = unitsOf(value, places);
  if (units !== null) return unit(units);
  throw new ApiError("INVALID_PARAMETER", `${field} ${value} has more than ${places} decimals`, {
    details: { fields: [field] },
  });
}
