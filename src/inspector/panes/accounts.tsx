import { useSignal } from "@preact/signals";
import { type Account, availableOf, type Balance, openOrdersOf } from "../../core/account.ts";
import { counted, moneyText, priceText, sizeText } from "../../core/format.ts";
import { marketOfToken, outcomeOf } from "../../core/market.ts";
import { type Order, remainingOf } from "../../core/order.ts";
import { devPrivateKey } from "../../simulation/world-accounts.ts";
import * as model from "../model.ts";
import {
  ActionButton,
  bindTo,
  Choice,
  EmptyNote,
  MarketLink,
  nameOf,
  numberIn,
  OrderLink,
  Pane,
  SCROLLS,
  TableHead,
  Unlisted,
  useAccounts,
  useAction,
} from "../parts.tsx";

/** Maximum number of listed orders. */
const MAX_LISTED = 500;

/** Balances and open orders of an account. */
export function AccountsPane() {
  const { accounts } = model.openMoment().state;
  const account = accounts.find(model.chosenAccount.value);
  const isShown = model.isShown("accounts");
  const numbers = isShown ? Array.from(accounts, ({ number }) => number) : [];
  const options = useAccounts(numbers, "choose", account?.number ?? 0);
  if (!isShown) return null;
  return (
    <Pane
      name="accounts"
      tools={
        <Choice label="Account" of={model.chosenAccount} shown={account?.number ?? 0} options={options} />
      }
    >
      {account === undefined ? (
        <EmptyNote>
          {model.openHistory().exchange.state.accounts.find(model.chosenAccount.value) === undefined
            ? `${counted(accounts.size, "account")}. Choose one to see its balances, its orders, and its marks in the book.`
            : `${nameOf(model.chosenAccount.value)} is created after the cursor.`}
        </EmptyNote>
      ) : (
        <Details account={account} />
      )}
    </Pane>
  );
}

function Details({ account }: { readonly account: Account }) {
  const { state } = model.openMoment();
  const orders = [...openOrdersOf(state, account)];
  const { balances: policy } = state.config;
  const rows = [...account.holdings].sort(([a], [b]) => a - b);
  const cells = <Unit extends number>(of: Balance<Unit>, text: (units: number) => string) => (
    <>
      {[of.balance, availableOf(of, policy), of.reserved, of.incoming, of.outgoing].map((units, index) => (
        <td key={index} class="number">
          {text(units)}
        </td>
      ))}
    </>
  );
  return (
    <>
      <p class="id">{account.address}</p>
      <DevKey account={account} />
      <section class="scroll" aria-label="Balances" {...SCROLLS}>
        <table>
          <caption>Balances</caption>
          <TableHead
            columns={["asset", "balance", "available", "reserved", "incoming", "outgoing"]}
            numbers={[1, 2, 3, 4, 5]}
          />
          <tbody>
            <tr>
              <th scope="row">USDC</th>
              {cells(account.collateral, moneyText)}
            </tr>
            {rows.flatMap(([number, { yes, no }]) => {
              const market = state.markets.get(number);
              return [["YES", yes] as const, ["NO", no] as const].map(([side, held]) => (
                <tr key={`${number} ${side}`}>
                  <th scope="row">
                    {side} <MarketLink of={market} />
                  </th>
                  {cells(held, sizeText)}
                </tr>
              ));
            })}
          </tbody>
        </table>
      </section>
      {account.everyMarket > 0 ? (
        <p class="dim">{`and ${sizeText(account.everyMarket)} of every token of the markets that it has not touched yet`}</p>
      ) : null}
      <Fund address={account.address} />
      <table>
        <caption>{`Open orders: ${orders.length}`}</caption>
        <TableHead columns={["order", "side", "open"]} />
        <tbody>
          {orders.slice(0, MAX_LISTED).map((order) => (
            <tr key={order.number}>
              <td>
                <OrderLink number={order.number} />
              </td>
              <td class={order.side === "BUY" ? "bid" : "ask"}>{order.side}</td>
              <td class="wraps">
                {`${openText(order)} in `}
                <MarketLink of={state.markets.get(marketOfToken(order.token))} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <Unlisted count={orders.length - MAX_LISTED} />
    </>
  );
}

/** Describes the open part of an order. */
const openText = (order: Order): string =>
  `${sizeText(remainingOf(order))} of ${sizeText(order.size)} ${outcomeOf(order.token)} @ ${priceText(order.price)}`;

/** Private key of a dev account, which is not secret. */
function DevKey({ account }: { readonly account: Account }) {
  const { origin, opening } = model.openHistory();
  const index = origin.devAccounts.indexOf(account.address);
  if (index < 0) return null;
  return (
    <details>
      <summary>{`Private key of dev-${index}`}</summary>
      <code class="id">{devPrivateKey(opening.config.seed, index)}</code>
    </details>
  );
}

function Fund({ address }: { readonly address: string }) {
  const amount = useSignal("1000");
  const action = useAction();
  const fund = async (): Promise<string> => {
    const collateral = numberIn(amount.value);
    if (collateral === undefined) throw new Error("expected an amount of USDC, found nothing");
    await model.server.value?.ask("POST", `/sim/accounts/${address}/fund`, { collateral });
    return "funded";
  };
  return (
    <p class="row">
      <label>
        USDC <input type="number" min={0} step="any" {...bindTo(amount)} />
      </label>
      <ActionButton label="Fund" onClick={() => void action.run(fund)} />
      {action.message}
    </p>
  );
}
