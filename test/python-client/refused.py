def test_is_refused(clobsim, carol):
    token = clobsim.market("will-the-series-the-gold-horde-be-renewed")["tokens"][0]["tokenId"]
    print("used", clobsim.url, "-")
    carol.buy(token, 0.555, 4)
