def test_restores(clobsim, alice):
    token = clobsim.create_market("Will it rain?")["tokens"][0]["tokenId"]
    clobsim.snapshot("before")
    clobsim.restore("before")
    for _ in range(30):
        alice.buy(token, 0.1, 1)
    alice.sell(token, 0.5, 10)
    clobsim.account(alice.address)
    assert False
