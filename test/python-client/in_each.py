"""Runs pytest in other environments, each with one variable changed."""
import json, os, pytest, sys

for variable, value in json.loads(sys.argv[1]):
    before = dict(os.environ)
    os.environ[variable] = value
    print("next case", flush=True)
    code = pytest.main(["-p", "clobsim.plugin", "-p", "no:cacheprovider", "--color=no", "test_it.py"])
    print("code", int(code), flush=True)
    os.environ.clear()
    os.environ.update(before)
