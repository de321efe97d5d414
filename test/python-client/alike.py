import pytest

@pytest.mark.parametrize("name", ["a b", "a-b", "a/b", "x" * 300])
def test_fails(clobsim, name):
    assert False
