import { useSignal } from "@preact/signals";
import { toIso } from "../../core/time.ts";
import * as model from "../model.ts";
import { ActionButton, bindTo, numberIn, OrderLink, Pane, TableHead, Time, useAction } from "../parts.tsx";

const STEPS = ["1s", "1m", "1h", "1d"] as const;

/** The virtual clock: its setting and its timers. */
export function ClockPane() {
  const rate = useSignal("60");
  const advance = useSignal("15m");
  const action = useAction();
  if (!model.isShown("clock")) return null;
  const { state, now, rows } = model.openMoment();
  const { mode, rate: speed } = model.openHistory().clockAt(rows);
  const set = (change: object): void => action.ask("POST", "/sim/clock", change);
  const due = model.nextTimer(state);
  return (
    <Pane name="clock">
      <p class="big number">{toIso(now)}</p>
      <p>
        {mode === "scaled"
          ? `runs ${speed} times as fast as the wall clock`
          : mode === "real"
            ? "runs with the wall clock"
            : "frozen"}
      </p>
      <p class="row">
        <ActionButton label="Freeze" onClick={() => set({ mode: "frozen" })} />
        <ActionButton label="Run" title="with the wall clock" onClick={() => set({ mode: "real" })} />
        <ActionButton label="Run at" onClick={() => set({ mode: "scaled", rate: numberIn(rate.value) })} />
        <input type="number" aria-label="Virtual seconds per second" min={0} step="any" {...bindTo(rate)} />
      </p>
      <p class="row">
        {STEPS.map((by) => (
          <ActionButton key={by} label={`+${by}`} onClick={() => set({ advance: by })} />
        ))}
        <ActionButton label="Advance by" onClick={() => set({ advance: advance.value })} />
        <input aria-label="A duration such as 90s" size={6} {...bindTo(advance)} />
        <ActionButton
          label="To the next timer"
          onClick={() => {
            if (due !== null) set({ time: toIso(due) });
          }}
        />
      </p>
      {action.message}
      <Timers />
    </Pane>
  );
}

/** Next block, and the orders that expire next. */
function Timers() {
  const { chain, expiries, orders } = model.openMoment().state;
  const waiting = expiries.soonest(12, (order) => orders.get(order).status === "LIVE");
  return (
    <table>
      <caption>Next timers</caption>
      <TableHead columns={["time", "timer"]} />
      <tbody>
        {chain.nextBlockAt === null ? null : (
          <tr>
            <td>
              <Time at={chain.nextBlockAt} />
            </td>
            <td>a block is mined</td>
          </tr>
        )}
        {waiting.map((order) => (
          <tr key={order}>
            <td>
              <Time at={orders.get(order).expiration ?? 0} />
            </td>
            <td>
              <OrderLink number={order} /> expires
            </td>
          </tr>
        ))}
        {chain.nextBlockAt === null && waiting.length === 0 ? (
          <tr>
            <td class="dim">none</td>
          </tr>
        ) : null}
      </tbody>
    </table>
  );
}
