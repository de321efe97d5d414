"""Calls the methods that the example does not; fails if a public method is still uncalled."""
import re
from decimal import Decimal
from clobsim import Account, ClobsimError, Exchange, start

called = set()
for kind in (Exchange, Account):
    def noted(name, method):
        return lambda *args, **more: (called.add(name), method(*args, **more))[1]
    for name, method in list(vars(kind).items()):
        if callable(method) and not name.startswith("_"):
            setattr(kind, name, noted(f"{kind.__name__}.{name}", method))
methods = {f"{kind.__name__}.{name}" for kind in (Exchange, Account) for name, value in vars(kind).items()
           if callable(value) and not name.startswith("_")}

with start(2) as pool:
    exchange = Exchange(pool.url + "/2/")
    market = exchange.create_market("Will it rain?", tickSize=0.001)
    assert exchange.market(market["slug"])["id"] == market["id"] and market["tickSize"] == 0.001
    assert exchange.markets(limit=1)[0]["id"] == market["id"]
    token = market["tokens"][0]["tokenId"]
    alice, bob = exchange.account("alice"), exchange.account(exchange.address("bob"))
    assert exchange.fund("bob", 5, {token: 2})["collateral"]["balance"] == 10005 and exchange.freeze()["mode"] == "frozen"
    first = alice.buy(token, Decimal("0.401"), Decimal(10))
    exchange.snapshot("with an order")
    assert alice.cancel(first["id"])["canceled"] == [first["id"]]
    exchange.restore("with an order")
    alice = exchange.account("alice")
    assert [order["id"] for order in alice.orders(limit=5)] == [first["id"]]
    exchange.fault("POST /clob/order", status=503, times=1)
    exchange.clear_faults()
    assert exchange.account("bob").sell(token, 0.4, 4)["sizeMatched"] == 4 and alice.trades()[0]["size"] == 4
    assert exchange.story(first["id"])["order"]["sizeMatched"] == 4 and exchange.mine() is not None
    assert alice.cancel_all()["canceled"] == [first["id"]] and first["id"] in exchange.touched
    assert exchange.book(token)["bids"] == [] and alice.balances()["collateral"]["reserved"] == 0
    assert exchange.resolve(market["slug"], "YES")["status"] == "RESOLVED"
    assert exchange.advance("1h") is not None and exchange.time() > 1767225600
    assert "scenario:" in exchange.scenario() and b'"k":"opening"' in exchange.report("to look at")
    exchange.reset()
    try:
        exchange.market(market["slug"])
    except ClobsimError as error:
        assert (error.status, error.code) == (404, "MARKET_NOT_FOUND")
    try:
        exchange.account("zoe")
        raise AssertionError("there is no zoe")
    except ValueError as error:
        assert str(error).startswith("expected an address or one of alice, bob,") and "found 'zoe'" in str(error)
assert methods == called, methods - called
print("every method was called")
