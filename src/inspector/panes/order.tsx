import { useSignal } from "@preact/signals";
import { orderStory } from "../../api/order-story.ts";
import { fillsOf } from "../../api/trading.ts";
import { settledAt, tradeStatus } from "../../core/chain/settlement.ts";
import { priceText, sizeText, usdcText } from "../../core/format.ts";
import { idOf, numberOf } from "../../core/ids.ts";
import { marketOfToken } from "../../core/market.ts";
import { chosenOrder, moment, openOrder } from "../model.ts";
import { AccountLink, Head, Nothing, OrderLink, Pane, Time } from "../parts.tsx";

/** One order: what it met, the queue it joined, every fill, what ended it, how it settled. */
export function OrderPane() {
  return (
    <Pane name="order" tools={<Find />}>
      <Story />
    </Pane>
  );
}

/** Takes the id of an order, or its number. */
function Find() {
  const wrong = useSignal("");
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        const { value: at } = moment;
        const field = event.currentTarget.elements.namedItem("order");
        if (at === null || !(field instanceof HTMLInputElement)) return;
        const asked = field.value.trim();
        const number = /^\d+$/.test(asked)
          ? Number(asked)
          : numberOf(at.state.idPrefixes.order, asked.toLowerCase());
        const isThere = at.state.orders.find(number) !== undefined;
        wrong.value = isThere ? "" : `no such order among the ${at.state.orders.size} there are here`;
        if (isThere) openOrder(number);
      }}
    >
      <input name="order" aria-label="Order by id or number" placeholder="id or number" size={14} />
      <span class="wrong" role="status">
        {wrong.value}
      </span>
    </form>
  );
}

function Story() {
  const { value: at } = moment;
  const order = at?.state.orders.find(chosenOrder.value);
  if (at === null || order === undefined) {
    return (
      <Nothing>
        {chosenOrder.value === 0
          ? "Click an order anywhere, or type its id, to see its story."
          : `Order ${chosenOrder.value} has not been placed yet where the cursor stands.`}
      </Nothing>
    );
  }
  const { state, view } = at;
  const { order: reply, summary, story, queue } = orderStory(view, order);
  const market = state.markets.get(marketOfToken(order.token));
  return (
    <article class="story">
      <h3>
        {`order ${order.number}`} <AccountLink number={order.account} />
      </h3>
      <p class="dim id">{reply.id}</p>
      <p>
        <span class={order.side === "BUY" ? "bid" : "ask"}>{order.side}</span>
        {` ${sizeText(order.size)} ${reply.outcome} @ ${priceText(order.price)} ${order.orderType} in ${market.slug}`}
      </p>
      <p>
        <strong>{reply.status}</strong>
        {`: ${summary}`}
      </p>
      <ol class="events">
        {story.map(({ at: when, what }, index) => (
          <li key={index}>
            <Time at={Date.parse(when)} /> {what}
          </li>
        ))}
      </ol>
      {queue === null ? null : (
        <p class="number">
          {`Queue: joined behind ${queue.joinedBehind.orders} orders of ${queue.joinedBehind.shares}, now behind ${queue.nowBehind.orders} of ${queue.nowBehind.shares}`}
        </p>
      )}
      <table>
        <caption>Fills</caption>
        <Head columns={["time", "size @ price", "against", "settlement"]} />
        <tbody>
          {fillsOf(view, order).map(({ trade, role }) => (
            <tr key={trade.number} title={idOf(state.idPrefixes.trade, trade.number)}>
              <td>
                <Time at={trade.at} />
              </td>
              <td class="number">
                {`${sizeText(trade.size)} @ ${priceText(role === "TAKER" ? trade.price : order.price)}${trade.fee > 0 && role === "TAKER" ? `, fee ${usdcText(trade.fee)}` : ""}`}
              </td>
              <td>
                <OrderLink number={role === "TAKER" ? trade.maker : trade.taker} />
              </td>
              <td title={new Date(settledAt(state, trade)).toISOString()}>{tradeStatus(state, trade)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </article>
  );
}
