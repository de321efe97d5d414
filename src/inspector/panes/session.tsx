import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { ReplyTo } from "../../api/endpoints.ts";
import { canAct, file, history, revision, server } from "../model.ts";
import { Act, Choice, download, Outcome, Pane, useAction, whyNot } from "../parts.tsx";

/** What a person does with an exchange beside trading: keep, go back, break, record. */
export function SessionPane() {
  return (
    <Pane name="session">
      {server.value === null ? <p class="dim">{whyNot()}</p> : null}
      <Files />
      {server.value === null ? null : (
        <>
          <Snapshots />
          <Faults />
          <Bots />
        </>
      )}
    </Pane>
  );
}

/** What can be taken away. */
function Files() {
  const action = useAction();
  const { value: shown } = history;
  revision.value;
  const report = (): Promise<void> =>
    action.run(async () => {
      const { value: own } = file;
      const bytes =
        server.value === null
          ? own?.bytes
          : new Uint8Array(
              await (
                await server.value.send("GET", "/sim/report?reason=taken+from+the+inspector")
              ).arrayBuffer(),
            );
      if (bytes === undefined) return undefined;
      download(own?.name ?? "report.ndjson", bytes as Uint8Array<ArrayBuffer>, "application/x-ndjson");
      return `${bytes.length.toLocaleString("en")} bytes: clobsim replay, inspect --html and record read it`;
    });
  const scenario = (): Promise<void> =>
    action.run(async () => {
      const told = (await server.value?.ask("GET", "/sim/scenario")) as {
        name: string;
        scenario: string;
        orders: number;
      };
      download(`${told.name.replace(/[^\w-]+/g, "-")}.yaml`, told.scenario, "application/yaml");
      return `a scenario of ${told.orders} orders: clobsim run runs it`;
    });
  return (
    <>
      <dl class="facts number">
        <div>
          <dt>seed</dt>
          <dd>{shown?.opening.config.seed}</dd>
        </div>
        <div>
          <dt>made by</dt>
          <dd>{`clobsim ${shown?.opening.engine}`}</dd>
        </div>
        <div>
          <dt>rows</dt>
          <dd>{shown?.count}</dd>
        </div>
      </dl>
      <p class="row">
        <button type="button" onClick={() => void report()}>
          Download report
        </button>
        <button
          type="button"
          disabled={server.value === null}
          title={server.value === null ? "clobsim record makes one of a report" : ""}
          onClick={() => void scenario()}
        >
          Record as scenario
        </button>
        <Act
          label="Reset"
          title="opens the world anew"
          onClick={() => {
            if (confirm("Open the world anew? All that was done is gone, snapshots too."))
              void action.ask("POST", "/sim/reset", {});
          }}
        />
      </p>
      <Outcome of={action} />
    </>
  );
}

const LISTS = { listSnapshots: "/sim/snapshots", listFaults: "/sim/faults" } as const;

/** What the server lists, fetched anew after each action. */
function useList<List extends keyof typeof LISTS>(list: List) {
  const items = useSignal<ReplyTo<List>["data"]>([]);
  const action = useAction();
  const load = async (): Promise<void> => {
    const page = (await server.value?.ask("GET", LISTS[list])) as ReplyTo<List> | undefined;
    items.value = page?.data ?? [];
  };
  const change = (method: "POST" | "DELETE", to: string, body?: object): void =>
    void action.run(async () => {
      await server.value?.ask(method, to, body);
      await load();
      return undefined;
    });
  useEffect(() => {
    void action.run(async () => {
      await load();
      return undefined;
    });
  }, [history.value]);
  return { items, action, change };
}

function Snapshots() {
  const { items, action, change } = useList("listSnapshots");
  const name = useSignal("");
  return (
    <section aria-label="Snapshots">
      <h3>Snapshots</h3>
      <p class="row">
        <input
          aria-label="Name of the snapshot"
          placeholder="name"
          size={12}
          value={name.value}
          onInput={(event) => {
            name.value = event.currentTarget.value;
          }}
        />
        <Act
          label="Take"
          onClick={() => change("POST", "/sim/snapshots", name.value === "" ? {} : { name: name.value })}
        />
      </p>
      <ul class="plain">
        {items.value.map(({ id, name: called, sequence, time }) => (
          <li key={id}>
            <b>
              <bdi>{called ?? id}</bdi>
            </b>
            <span class="number dim">{` sequence ${sequence}, ${time} `}</span>
            <Act label="Restore" onClick={() => change("POST", `/sim/snapshots/${id}/restore`, {})} />
            <Act label="Forget" onClick={() => change("DELETE", `/sim/snapshots/${id}`)} />
          </li>
        ))}
      </ul>
      <Outcome of={action} />
    </section>
  );
}

const WAYS = {
  503: { status: 503 },
  500: { status: 500 },
  429: { status: 429 },
  "2s late": { latency: "2s" },
  "no reply": { drop: "reply" },
  "hang up": { drop: "connection" },
} as const;
type Way = `${keyof typeof WAYS}`;

function Faults() {
  const { items, action, change } = useList("listFaults");
  const way = useSignal<Way>("503");
  const route = useSignal("POST /clob/order");
  const times = useSignal("1");
  return (
    <section aria-label="Faults on requests">
      <h3>Faults on requests</h3>
      <p class="row">
        <input
          aria-label="Route"
          size={18}
          value={route.value}
          onInput={(event) => {
            route.value = event.currentTarget.value;
          }}
        />
        <Choice
          label="What goes wrong"
          value={way.value}
          options={(Object.keys(WAYS) as Way[]).map((each) => [each, each])}
          onChoose={(chosen) => {
            way.value = chosen;
          }}
        />
        <input
          type="number"
          aria-label="How many times"
          min={1}
          value={times.value}
          onInput={(event) => {
            times.value = event.currentTarget.value;
          }}
        />
        <Act
          label="Inject"
          onClick={() =>
            change("POST", "/sim/faults", {
              route: route.value,
              times: Number(times.value),
              ...WAYS[way.value],
            })
          }
        />
      </p>
      <ul class="plain">
        {items.value.map(({ id, route: of, status, latency, drop, fired }) => (
          <li key={id}>
            <b>{id}</b>
            <span class="number dim">{` ${of}: ${status ?? latency ?? drop}, fired ${fired} times `}</span>
            <Act label="Remove" onClick={() => change("DELETE", `/sim/faults/${id}`)} />
          </li>
        ))}
      </ul>
      <Outcome of={action} />
    </section>
  );
}

const PROFILES = ["thin", "normal", "busy", "toxic"] as const;

function Bots() {
  const action = useAction();
  const profile = useSignal<(typeof PROFILES)[number]>("normal");
  const acting = useSignal<ReplyTo<"getBots"> | null>(null);
  const load = async (): Promise<void> => {
    acting.value = (await server.value?.ask("GET", "/sim/bots")) as ReplyTo<"getBots">;
  };
  const change = (method: "POST" | "DELETE", done: string, body?: object): void =>
    void action.run(async () => {
      await server.value?.ask(method, "/sim/bots", body);
      await load();
      return done;
    });
  useEffect(() => {
    void action.run(async () => {
      await load();
      return undefined;
    });
  }, [history.value]);
  const { profile: acts = null, bots = [] } = acting.value ?? {};
  return (
    <section aria-label="Bots">
      <h3>Bots</h3>
      <p class="dim">{acts === null ? "none act" : `${bots.length} of the profile ${acts} act`}</p>
      <p class="row">
        <Choice
          label="Profile"
          value={profile.value}
          options={PROFILES.map((each) => [each, each])}
          onChoose={(chosen) => {
            profile.value = chosen;
          }}
        />
        <Act
          label="Start"
          onClick={() => change("POST", "they trade as time passes", { profile: profile.value })}
        />
        <Act label="Stop" onClick={() => change("DELETE", "stopped")} />
        {canAct.value ? null : <span class="dim">{whyNot()}</span>}
      </p>
      <Outcome of={action} />
    </section>
  );
}
