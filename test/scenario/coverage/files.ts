/** An order filled in two parts, and a cancel that is too late. */
export const PARTS = `scenario: a bid is filled in two parts
accounts: { alice: { USDC: 1000 }, bob: { YES: 500 } }
steps:
  - alice: BUY 100 YES @ 0.50 as bid
    status: LIVE 0/100
  - bob: SELL 40 YES @ 0.50
    fills: [SELL 40 YES @ 0.50 from alice]
  - bob: SELL 60 YES @ 0.50 FAK
  - alice: cancel bid
    rejects: already matched
`;

/** A market that is closed before it is resolved, or not. */
export const ENDING = `scenario: a market ends in either way
market: { tickSize: 0.001 }
accounts: { alice: { USDC: 1000 } }
steps:
  - alice: BUY 10 YES @ 0.505 GTD +60s
  - advance: 60s
  - alice: BUY 10 YES @ 0.505
  - alice: BUY 10 YES @ 0.5055
    rejects: INVALID_TICK_SIZE
  - race: [close: market, resolve: NO]
    after:
      balances: { alice: { USDC: 1000 } }
`;

/** A request without another step. */
export const UNSIGNED = `scenario: an order without a signature is refused
steps:
  - request: POST /order
    body: {}
    rejects: MISSING_AUTH_HEADER
  - request: GET /clob/time
    answers: { time: 1767225600 }
`;

export const FAILING = `scenario: a book is never what it is not
accounts: { alice: { USDC: 1000 } }
steps:
  - alice: BUY 10 YES @ 0.5 FOK
  - expect: { book: { YES: { bids: [0.5 x 10] } } }
`;
