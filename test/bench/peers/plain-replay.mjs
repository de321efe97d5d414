// Replays a flow with a simple book of arrays: no ledger, no ids, no checks.
// node plain-replay.mjs FLOW.csv prints the number of trades.
import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";

const bids = [];
const asks = [];
/** Open orders by name in the file. */
const open = new Map();
let trades = 0;

/** Returns the index of a price in a side whose best level is its last. */
function placeOf(levels, price, isBid) {
  let low = 0;
  let high = levels.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const isBefore = isBid ? levels[middle].price < price : levels[middle].price > price;
    if (isBefore) low = middle + 1;
    else high = middle;
  }
  return low;
}

function rest(order) {
  const levels = order.isBid ? bids : asks;
  const place = placeOf(levels, order.price, order.isBid);
  if (levels[place]?.price !== order.price) levels.splice(place, 0, { price: order.price, queue: [] });
  levels[place].queue.push(order);
  if (order.ref !== "") open.set(order.ref, order);
}

function remove(order) {
  const levels = order.isBid ? bids : asks;
  const place = placeOf(levels, order.price, order.isBid);
  const { queue } = levels[place];
  queue.splice(queue.indexOf(order), 1);
  if (queue.length === 0) levels.splice(place, 1);
  open.delete(order.ref);
}

const crosses = ({ isBid, price }, level) =>
  level !== undefined && (isBid ? level.price <= price : level.price >= price);

function fillable(order, levels) {
  let sum = 0;
  for (let at = levels.length - 1; at >= 0 && crosses(order, levels[at]); at -= 1)
    for (const { left } of levels[at].queue) sum += left;
  return sum;
}

function place(order) {
  const levels = order.isBid ? asks : bids;
  if (order.type === "FOK" && fillable(order, levels) < order.left) return;
  while (order.left > 0 && crosses(order, levels.at(-1))) {
    const [maker] = levels.at(-1).queue;
    const size = Math.min(order.left, maker.left);
    order.left -= size;
    maker.left -= size;
    trades += 1;
    if (maker.left === 0) remove(maker);
  }
  if (order.left > 0 && order.type.startsWith("GT")) rest(order);
}

/** Orders with an expiration, soonest first. */
const expiring = [];

function expire(now) {
  while (expiring.length > 0 && expiring[0].ends <= now) {
    const { order } = expiring.shift();
    if (order.left > 0 && open.get(order.ref) === order) remove(order);
  }
}

for await (const line of createInterface({ input: createReadStream(process.argv[2]) })) {
  const [at, , op, ref, side, outcome, price, size, type = ""] = line.split(",");
  if (expiring.length > 0) expire(Number(at));
  if (op === "cancel") {
    const order = open.get(ref);
    if (order !== undefined) remove(order);
  } else if (op === "place") {
    const isYes = outcome === "YES";
    const units = Math.round(Number(price) * 10_000);
    const order = {
      ref,
      isBid: (side === "BUY") === isYes,
      price: isYes ? units : 10_000 - units,
      left: Math.round(Number(size) * 100),
      type: type === "" ? "GTC" : type.slice(0, 3),
    };
    place(order);
    const seconds = /^GTD \+(\d+)s$/.exec(type)?.[1];
    if (seconds !== undefined && order.left > 0) {
      const ends = Number(at) + Number(seconds) * 1_000;
      let to = expiring.length;
      while (to > 0 && expiring[to - 1].ends > ends) to -= 1;
      expiring.splice(to, 0, { ends, order });
    }
  }
}
console.log(trades);
