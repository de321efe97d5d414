/** Text of a typical scenario: two accounts, two orders and expectations. */
export const smallScenario = (
  number: number,
): string => `scenario: partial fill ${number} leaves the remainder live
accounts:
  alice: { USDC: 1000 }
  bob:   { YES: 500 }
steps:
  - alice: BUY 100 YES @ 0.55 as bid
  - bob: SELL 40 YES @ 0.50
    fills: [SELL 40 YES @ 0.55 from alice]
    status: MATCHED 40/40
  - expect:
      book:     { YES: { bids: [0.55 x 60], asks: [] } }
      orders:   { bid: LIVE 40/100 }
      trades:   [bob SELL 40 YES @ 0.55 from alice]
      balances: { alice: { USDC: 978, YES: 40 }, bob: { USDC: 22, YES: 460 } }
`;
