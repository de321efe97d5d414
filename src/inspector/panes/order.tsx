import { orderStory } from "../../api/explanations.ts";
import { fillsOf } from "../../api/trading.ts";
import { settledAt, tradeStatus } from "../../core/chain/settlement.ts";
import { counted, priceText, sizeText, usdcText } from "../../core/format.ts";
import { idOf, numberOf } from "../../core/ids.ts";
import { marketOfToken } from "../../core/market.ts";
import * as model from "../model.ts";
import { AccountLink, EmptyNote, GoTo, MarketLink, OrderLink, Pane, TableHead, Time } from "../parts.tsx";

/** One order: its matching, its place in the queue, its fills, its end and its settlement. */
export function OrderPane() {
  return (
    <Pane name="order" tools={<Find />}>
      <Story />
    </Pane>
  );
}

/** An order's number: plain, or as the page writes it. */
const NUMBER = /^(?:#|order )?(\d+)$/;

/** Field for the id or number of an order. */
function Find() {
  const go = (asked: string): string => {
    const { idPrefixes, orders } = model.openMoment().state;
    const number = Number(NUMBER.exec(asked)?.[1] ?? numberOf(idPrefixes.order, asked.toLowerCase()));
    if (orders.find(number) === undefined) return `no such order among the ${orders.size} at the cursor`;
    model.openOrder(number);
    return "";
  };
  return <GoTo label="Order by id or number" placeholder="id or number" go={go} />;
}

function Story() {
  const { state, view } = model.openMoment();
  const order = state.orders.find(model.chosenOrder.value);
  if (order === undefined) {
    return (
      <EmptyNote>
        {model.openHistory().exchange.state.orders.find(model.chosenOrder.value) === undefined
          ? "Click an order anywhere, or type its id, to see its story."
          : `Order ${model.chosenOrder.value} is placed after the cursor.`}
      </EmptyNote>
    );
  }
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
        {` ${sizeText(order.size)} ${reply.outcome} @ ${priceText(order.price)} ${order.orderType} in `}
        <MarketLink of={market} />
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
          {`Queue: joined behind ${counted(queue.joinedBehind.orders, "order")} of ${queue.joinedBehind.shares}, now behind ${queue.nowBehind.orders} of ${queue.nowBehind.shares}`}
        </p>
      )}
      <table>
        <caption>Fills</caption>
        <TableHead columns={["time", "size @ price", "against", "settlement"]} numbers={[1]} />
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
