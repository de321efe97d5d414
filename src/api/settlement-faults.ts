import { CERTAIN, type SettlementFaultTerms } from "../core/chain/settlement-fault.ts";

/** What can go wrong with settlements, as the API calls it. */
export const FAULT_KINDS = ["fail", "retry", "delay", "ghost", "gas-spike"] as const;
export type FaultKind = (typeof FAULT_KINDS)[number];

/** A settlement fault in the words of POST /sim/chain/faults. */
export interface SettlementFaultWords {
  readonly kind: FaultKind;
  readonly times?: number | undefined;
  readonly probability?: number | undefined;
  readonly blocks?: number | undefined;
  readonly baseFeeGwei?: number | undefined;
  readonly reason?: string | undefined;
}

export type FaultField = Exclude<keyof SettlementFaultWords, "kind">;

/** Which fields mean something of which kind. */
export const FAULT_FIELDS: Readonly<Record<FaultKind, readonly FaultField[]>> = {
  fail: ["times", "probability", "reason"],
  retry: ["times", "probability"],
  delay: ["times", "probability", "blocks"],
  ghost: ["times", "probability"],
  "gas-spike": ["baseFeeGwei"],
};

export const WEI_PER_GWEI = 1_000_000_000;
/** Far above what the exchange offers. */
const SPIKE_GWEI = 500;

/** What a fault is set with; without times and probability it befalls the next settlement alone. */
export function faultTerms(words: SettlementFaultWords): SettlementFaultTerms {
  const { kind, times, probability, blocks, baseFeeGwei, reason } = words;
  const isSpike = kind === "gas-spike";
  return {
    fault: isSpike ? "gasSpike" : kind,
    probability: Math.round((probability ?? 1) * CERTAIN),
    times: times ?? (probability === undefined && !isSpike ? 1 : null),
    blocks: kind === "delay" ? (blocks ?? 1) : 0,
    baseFee: isSpike ? Math.round((baseFeeGwei ?? SPIKE_GWEI) * WEI_PER_GWEI) : 0,
    reason: reason ?? null,
  };
}

/** The words that set a fault with these terms, none left to a default. */
export function faultWords(terms: SettlementFaultTerms): SettlementFaultWords {
  const { fault, times, probability, blocks, baseFee, reason } = terms;
  if (fault === "gasSpike") return { kind: "gas-spike", baseFeeGwei: baseFee / WEI_PER_GWEI };
  const isCounted = times !== null;
  return {
    kind: fault,
    ...(isCounted ? { times } : {}),
    ...(isCounted && probability === CERTAIN ? {} : { probability: probability / CERTAIN }),
    ...(fault === "delay" ? { blocks } : {}),
    ...(reason === null ? {} : { reason }),
  };
}
