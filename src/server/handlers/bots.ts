import type { Operation, ReplyTo } from "../../api/endpoints.ts";
import { checksummed } from "../../api/view.ts";
import { findAccount } from "../../core/state.ts";
import type { Handlers, Service } from "../service.ts";

export const botHandlers = {
  getBots: (_call, service) => botsReply(service),
  startBots: ({ body: { profile, seed } }, service) => {
    service.bots.start(profile, seed);
    return botsReply(service);
  },
  endBots: (_call, { bots }) => {
    const profile = bots.running?.profile ?? null;
    return { profile, canceled: bots.end() };
  },
} satisfies Partial<Handlers<Operation>>;

function botsReply({ bots: { running }, exchange: { state } }: Service): ReplyTo<"getBots"> {
  if (running === null) return { profile: null, seed: null, bots: [] };
  const { profile, seed, bots } = running;
  return {
    profile,
    seed,
    bots: bots.map(({ name, kind, address }) => {
      const account = findAccount(state, address);
      return {
        name,
        kind,
        address: checksummed(address),
        openOrders: account?.openCount ?? 0,
        fills: account?.fills.size ?? 0,
      };
    }),
  };
}
