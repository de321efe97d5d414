import { expect, it } from "vitest";
import { orderBody, placeOrderBody, placeOrderCommand } from "../../../src/api/order-request.ts";
import { numbersAs } from "../../../src/api/view.ts";
import type { CommandOf } from "../../../src/core/commands.ts";
import { tokenOf } from "../../../src/core/market.ts";
import type { Scalar } from "../../../src/core/refusals.ts";
import { millis, price, size } from "../../../src/core/units.ts";
import { type TouchedMarket, Vocabulary } from "../../../src/history/vocabulary.ts";
import { type OrderWords, orderBodyOf, wordsOfBody } from "../../../src/scenario/language/order-line.ts";
import { addressOf } from "../../support/commands.ts";
import { openFundedExchange } from "../../support/exchange.ts";
import { DESCRIBED_STEPS } from "./descriptions.ts";
import { lastStep, ofTwoMarkets, problemsOf } from "./scenario-texts.ts";
import { underlined } from "./schema.ts";

const EXPIRATION = millis(1_798_761_600_000);

const TYPES = [
  { orderType: "GTD", expiration: EXPIRATION },
  { orderType: "GTC", expiration: null },
] as const;

// The line leaves out the default type, so that the next word follows the price.
it.each(TYPES)(
  "an order of type $orderType with all fields is the same as words, body, command and line",
  (type) => {
    const exchange = openFundedExchange();
    exchange.market();
    const { state } = exchange;
    const command: Required<CommandOf<"placeOrder">> = {
      kind: "placeOrder",
      address: addressOf("alice"),
      tokenId: exchange.tokenId("YES"),
      side: "BUY",
      price: price(5000),
      size: size(1000),
      ...type,
    };
    const words: Required<OrderWords> = {
      side: "BUY",
      size: "10",
      outcome: "YES",
      price: "0.5",
      type: type.orderType,
      expiry: type.expiration && { at: type.expiration },
      market: "rain",
    };

    const body = orderBodyOf(words, command.tokenId, exchange.exchange.now) as Record<string, Scalar>;
    for (const each of [body, placeOrderBody(command)]) {
      const request = orderBody.read(each as Record<string, Scalar>);
      const view = { state, numbers: numbersAs("number") };
      expect(placeOrderCommand(view, command.address, request)).toEqual(command);
    }
    expect(wordsOfBody(body, "YES", "rain")).toEqual({
      ...words,
      expiry: words.expiry && { text: body.expiration },
    });

    const markets = ["rain", "snow"].map((name, index) => ({ name, number: index + 1 }) as TouchedMarket);
    const vocabulary = new Vocabulary(
      markets,
      state,
      () => "alice",
      () => undefined,
    );
    const line = vocabulary.order(command, tokenOf(1, "YES"), undefined);
    const scenario = ofTwoMarkets(`alice: ${line}`);
    expect(lastStep(scenario)).toMatchObject({ words });
    expect(underlined(scenario)).toEqual([]);
    const [problem] = problemsOf(scenario.replace("10 YES", "YES 10"));
    expect(problem).toContain(`(did you mean ${line}?)`);
    const { form, does } = DESCRIBED_STEPS.order;
    for (const [word] of line.matchAll(/\b[A-Z_]{2,}\b/g)) expect(`${form} ${does}`).toContain(word);
  },
);
