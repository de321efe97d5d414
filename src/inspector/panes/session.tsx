import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { ReplyTo } from "../../api/endpoints.ts";
import { BOT_PROFILES, type BotProfileName } from "../../bots/profiles.ts";
import { counted } from "../../core/format.ts";
import * as model from "../model.ts";
import {
  ActionButton,
  bindTo,
  Choice,
  disabledReason,
  download,
  Facts,
  numberIn,
  Pane,
  useAction,
} from "../parts.tsx";

/** Reports, scenarios, snapshots, injected faults and bots of a session. */
export function SessionPane() {
  return (
    <Pane name="session">
      {model.server.value === null ? <p class="dim">{disabledReason()}</p> : null}
      <Files />
      {model.server.value === null ? null : (
        <>
          <Snapshots />
          <Faults />
          <Bots />
        </>
      )}
    </Pane>
  );
}

/** Downloads, and the reset. */
function Files() {
  const action = useAction();
  const { opening, count } = model.openHistory();
  model.revision.value;
  const report = async (): Promise<string> => {
    const path = "/sim/report?reason=it+was+downloaded+in+the+inspector";
    const sent = await model.server.value?.send("GET", path);
    const bytes = sent === undefined ? model.file.value?.bytes : new Uint8Array(await sent.arrayBuffer());
    const content = bytes as Uint8Array<ArrayBuffer>;
    download(model.file.value?.name ?? "report.ndjson", content, "application/x-ndjson");
    return `${content.length.toLocaleString("en")} bytes: for clobsim replay, inspect --html and record`;
  };
  const record = async (): Promise<string> => {
    const recorded = await model.server.value?.ask("GET", "/sim/scenario");
    const { name, scenario, orders } = recorded as ReplyTo<"recordScenario">;
    download(`${name.replace(/[^\w-]+/g, "-")}.yaml`, scenario, "application/yaml");
    return `a scenario of ${counted(orders, "order")}: run it with clobsim run`;
  };
  return (
    <>
      <Facts of={{ seed: opening.config.seed, engine: `clobsim ${opening.engine}`, rows: count }} />
      <p class="row">
        <button type="button" onClick={() => void action.run(report)}>
          Download report
        </button>
        <button
          type="button"
          disabled={model.server.value === null}
          title={model.server.value === null ? "clobsim record writes one from a report" : ""}
          onClick={() => void action.run(record)}
        >
          Record as scenario
        </button>
        <ActionButton
          label="Reset"
          title="resets the exchange to its opening"
          onClick={() => {
            if (confirm("Reset the exchange to its opening? Its history and all snapshots will be lost."))
              action.ask("POST", "/sim/reset", {});
          }}
        />
      </p>
      {action.message}
    </>
  );
}

/** Returns a response of the server, loaded again after each change while the pane is shown; null until loaded. */
function useResponse<Reply>(path: string) {
  const response = useSignal<Reply | null>(null);
  const [action, loading] = [useAction(), useAction()];
  const latest = useRef(0);
  const load = (): Promise<void> => {
    latest.current += 1;
    const { current: own } = latest;
    return loading.run(async () => {
      // Changes may come faster than responses.
      if (own < latest.current) return undefined;
      response.value = (await model.server.value?.ask("GET", path)) as Reply;
      return undefined;
    });
  };
  const change = (method: "POST" | "DELETE", at: string, body?: object, done?: string): void =>
    void action.run(async () => {
      await model.server.value?.ask(method, at, body);
      await load();
      return done;
    });
  const isUsed = model.isShown("session") && model.isConnected.value;
  useEffect(() => {
    if (isUsed) void load();
  }, [isUsed, model.history.value, model.settingsRevision.value]);
  return { response: response.value, change, messages: [action.message, loading.message] };
}

function Snapshots() {
  const { response, change, messages } = useResponse<ReplyTo<"listSnapshots">>("/sim/snapshots");
  const name = useSignal("");
  return (
    <section aria-label="Snapshots">
      <h3>Snapshots</h3>
      <p class="row">
        <input aria-label="Name of the snapshot" placeholder="name" size={12} {...bindTo(name)} />
        <ActionButton
          label="Take"
          onClick={() => change("POST", "/sim/snapshots", name.value === "" ? {} : { name: name.value })}
        />
      </p>
      <ul class="plain">
        {response?.data.map(({ id, name: called, sequence, time }) => (
          <li key={id}>
            <b>
              <bdi>{called ?? id}</bdi>
            </b>
            <span class="number dim">{` sequence ${sequence}, ${time} `}</span>
            <ActionButton
              label="Restore"
              onClick={() => change("POST", `/sim/snapshots/${id}/restore`, {})}
            />
            <ActionButton label="Delete" onClick={() => change("DELETE", `/sim/snapshots/${id}`)} />
          </li>
        ))}
      </ul>
      {messages}
    </section>
  );
}

const FAULT_PRESETS = {
  503: { status: 503 },
  500: { status: 500 },
  429: { status: 429 },
  "2s latency": { latency: "2s" },
  "drop reply": { drop: "reply" },
  "drop connection": { drop: "connection" },
} as const;
type FaultPreset = `${keyof typeof FAULT_PRESETS}`;

function Faults() {
  const { response, change, messages } = useResponse<ReplyTo<"listFaults">>("/sim/faults");
  const preset = useSignal<FaultPreset>("503");
  const route = useSignal("POST /clob/order");
  const times = useSignal("1");
  return (
    <section aria-label="Faults on requests">
      <h3>Faults on requests</h3>
      <p class="row">
        <input aria-label="Route" size={18} {...bindTo(route)} />
        <Choice
          label="Effect"
          of={preset}
          options={(Object.keys(FAULT_PRESETS) as FaultPreset[]).map((each) => [each, each])}
        />
        <input type="number" aria-label="Number of times" min={1} {...bindTo(times)} />
        <ActionButton
          label="Inject"
          onClick={() =>
            change("POST", "/sim/faults", {
              route: route.value,
              times: numberIn(times.value),
              ...FAULT_PRESETS[preset.value],
            })
          }
        />
      </p>
      <ul class="plain">
        {response?.data.map(({ id, route: of, status, latency, drop, fired, remaining }) => (
          <li key={id}>
            <b>{id}</b>
            <span class="number dim">{` ${of}: ${status ?? latency ?? drop}, fired ${counted(fired, "time")}${remaining === null ? "" : `, ${remaining} remaining`} `}</span>
            <ActionButton label="Remove" onClick={() => change("DELETE", `/sim/faults/${id}`)} />
          </li>
        ))}
      </ul>
      {messages}
    </section>
  );
}

function Bots() {
  const { response, change, messages } = useResponse<ReplyTo<"getBots">>("/sim/bots");
  const profile = useSignal<BotProfileName>("normal");
  const { profile: running = null, bots = [] } = response ?? {};
  return (
    <section aria-label="Bots">
      <h3>Bots</h3>
      <p class="dim">{running === null ? "none running" : `${bots.length} running, profile ${running}`}</p>
      <p class="row">
        <Choice label="Profile" of={profile} options={BOT_PROFILES.map((each) => [each, each])} />
        <ActionButton
          label="Start"
          onClick={() => change("POST", "/sim/bots", { profile: profile.value }, "they trade as time passes")}
        />
        <ActionButton label="Stop" onClick={() => change("DELETE", "/sim/bots", undefined, "stopped")} />
        {model.canAct.value ? null : <span class="dim">{disabledReason()}</span>}
      </p>
      {messages}
    </section>
  );
}
