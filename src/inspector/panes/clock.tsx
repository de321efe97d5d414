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
  const timers = [
    ...(chain.nextBlockAt === null ? [] : [[chain.nextBlockAt, "a block is mined"] as const]),
    ...waiting.map((order) => {
      const expires = [<OrderLink key={order} number={order} />, " expires"];
      return [orders.get(order).expiration ?? 0, expires] as const;
    }),
  ];
  return (
    <table>
      <caption>{timers.length === 0 ? "No timer" : "Next timers"}</caption>
      <TableHead columns={["time", "timer"]} />
      <tbody>
        {timers.map(([at, what], index) => (
          <tr key={index}>
            <td>
              <Time at={at} />
            </td>
            <td>{what}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
