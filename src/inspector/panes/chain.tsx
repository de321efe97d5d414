import { useSignal } from "@preact/signals";
import { FAULT_FIELDS, FAULT_KINDS, type FaultKind, settlementFaultReply } from "../../api/chain.ts";
import { whyUnsettled } from "../../api/explanations.ts";
import { type Block, baseFeeOf, faultText, headBlock, unminedOf } from "../../core/chain/chain.ts";
import { finalHeight, SETTLEMENT_STATUSES, tradeStatus } from "../../core/chain/settlement.ts";
import { kindOf } from "../../core/chain/transaction.ts";
import { priceText, sizeText } from "../../core/format.ts";
import type { Trade } from "../../core/order.ts";
import type { State } from "../../core/state.ts";
import * as model from "../model.ts";
import {
  ActionButton,
  bindTo,
  Choice,
  Facts,
  numberIn,
  OrderLink,
  Pane,
  TableHead,
  Time,
  Unlisted,
  useAction,
} from "../parts.tsx";

const WEI_PER_GWEI = 1_000_000_000;
/** Maximum numbers of rows shown. */
const [MAX_BLOCKS, MAX_TRADES, MAX_PENDING] = [20, 200, 50];

/** The settlement chain: pending transactions, settlement of trades, faults and blocks. */
export function ChainPane() {
  if (!model.isShown("chain")) return null;
  const { state } = model.openMoment();
  const { chain } = state;
  const head = headBlock(chain);
  return (
    <Pane name="chain">
      <Facts
        of={{
          head: head.height,
          final: finalHeight(state),
          pending: chain.pending,
          lost: chain.lost.length,
          "base fee": `${baseFeeOf(chain) / WEI_PER_GWEI} gwei`,
          reorganizations: chain.reorganizations,
        }}
      />
      <Controls />
      <Settlements state={state} />
      <Pending state={state} />
      <Blocks state={state} />
    </Pane>
  );
}

/** Fields of a fault that are a number, and what they count. */
const COUNTED = [
  ["times", "Number of settlements"],
  ["depth", "Number of blocks"],
] as const;

function Controls() {
  const { state } = model.openMoment();
  const kind = useSignal<FaultKind | "reorg">("fail");
  const count = useSignal("1");
  const action = useAction();
  const { faults } = state.chain;
  const counted = COUNTED.find(([field]) => FAULT_FIELDS[kind.value].includes(field));
  const set = (): void => {
    const counts = counted === undefined ? {} : { [counted[0]]: numberIn(count.value) };
    action.ask("POST", "/sim/chain/faults", { kind: kind.value, ...counts });
  };
  return (
    <>
      <p class="row">
        <ActionButton
          label="Mine a block"
          onClick={() => action.ask("POST", "/sim/chain/mine", { blocks: 1 })}
        />
        <ActionButton
          label="Bump fees"
          title="raises the fees of transactions that a gas spike keeps out of blocks"
          onClick={() => action.ask("POST", "/sim/chain/bump", {})}
        />
        <Choice
          label="Kind of fault"
          of={kind}
          options={[...FAULT_KINDS, "reorg" as const].map((each) => [each, each])}
        />
        {counted === undefined ? null : (
          <input type="number" aria-label={counted[1]} title={counted[1]} min={1} {...bindTo(count)} />
        )}
        <ActionButton label="Set fault" onClick={set} />
        <ActionButton label="End faults" onClick={() => action.ask("DELETE", "/sim/chain/faults")} />
      </p>
      {action.message}
      {faults.length === 0 ? null : (
        <ul class="plain">
          {faults.map((fault) => {
            const { id, struck, remaining } = settlementFaultReply(state, fault);
            return (
              <li key={fault.number} class="number">
                {`${id}: ${faultText(fault)}, hit ${struck}${remaining === null ? "" : `, ${remaining} remaining`} `}
                <ActionButton label="End" onClick={() => action.ask("DELETE", `/sim/chain/faults/${id}`)} />
              </li>
            );
          })}
        </ul>
      )}
    </>
  );
}

/** Latest trades by settlement status. */
function Settlements({ state }: { readonly state: State }) {
  const { trades } = state;
  const byStatus = new Map<string, Trade[]>(SETTLEMENT_STATUSES.map((status) => [status, []]));
  for (let number = trades.size; number > Math.max(0, trades.size - MAX_TRADES); number -= 1) {
    const trade = trades.get(number);
    byStatus.get(tradeStatus(state, trade))?.push(trade);
  }
  return (
    <section aria-labelledby="settlements">
      <p id="settlements" class="dim">
        {trades.size > MAX_TRADES
          ? `The latest ${MAX_TRADES} of ${trades.size} trades by their settlement`
          : "Trades by their settlement"}
      </p>
      <div class="lanes-of-trades">
        {[...byStatus].map(([status, of]) => (
          <div key={status} data-status={status}>
            <h3>
              {status} <span class="number dim">{of.length}</span>
            </h3>
            <ul class="plain">
              {of.slice(0, 8).map((trade) => (
                <li key={trade.number} class="number">
                  <OrderLink number={trade.taker} isBrief />
                  {` ${sizeText(trade.size)} @ ${priceText(trade.price)}`}
                </li>
              ))}
            </ul>
          </div>
        ))}
      </div>
    </section>
  );
}

function Pending({ state }: { readonly state: State }) {
  const unmined = unminedOf(state.chain);
  return (
    <>
      <table>
        <caption>{`Unmined transactions: ${unmined.length}`}</caption>
        <TableHead columns={["number", "kind", "status", "why"]} numbers={[0]} />
        <tbody>
          {unmined.slice(0, MAX_PENDING).map((transaction) => (
            <tr key={transaction.number}>
              <td class="number">{transaction.number}</td>
              <td>{kindOf(transaction)}</td>
              <td>{transaction.status}</td>
              <td class="wraps">{whyUnsettled(state, transaction)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <Unlisted count={unmined.length - MAX_PENDING} />
    </>
  );
}

function Blocks({ state }: { readonly state: State }) {
  const { blocks, heights } = state.chain;
  const isInChain = ({ height, serial }: Block): boolean => heights.find(height + 1) === serial;
  const latest = Array.from({ length: Math.min(MAX_BLOCKS, blocks.size) }, (_, index) =>
    blocks.get(blocks.size - index),
  );
  const final = finalHeight(state);
  return (
    <table>
      <caption>Blocks, latest first</caption>
      <TableHead columns={["block", "time", "transactions", "state"]} numbers={[0, 2]} />
      <tbody>
        {latest.map((block) => (
          <tr key={block.serial} class={isInChain(block) ? "" : "gone"}>
            <td class="number">{block.height}</td>
            <td>
              <Time at={block.at} />
            </td>
            <td class="number">{block.count}</td>
            <td>
              {!isInChain(block)
                ? "replaced by a reorganization"
                : block.height <= final
                  ? "final"
                  : "not final"}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
