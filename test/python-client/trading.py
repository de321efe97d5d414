import pytest

@pytest.mark.parametrize("number", range(6))
def test_trades(clobsim, alice, bob, number):
    token = clobsim.create_market("Will it rain?")["tokens"][0]["tokenId"]
    order = alice.sell(token, 0.5, 10)["id"]
    bob.buy(token, 0.5, 4)
    assert clobsim.story(order)["order"]["sizeMatched"] == 4
    print("used", clobsim.url, clobsim.info()["stateHash"])
    clobsim.fault(status=503)
    assert number < 5
