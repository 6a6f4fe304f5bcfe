"""Prints the status of each request, sent without a payment to the app of a patch."""

import json
import runpy
import sys

stack, requests, file = sys.argv[1:4]
app = runpy.run_path(file)["app"]

if stack == "fastapi":
    from starlette.testclient import TestClient

    @app.api_route("/{path:path}", methods=["GET", "HEAD", "POST"])
    def sold(path: str):
        return {"sold": True}

    client = TestClient(app)

    def send(method, path):
        return client.request(method, path).status_code
else:

    @app.route("/<path:path>", methods=["GET", "HEAD", "POST"])
    def sold(path):
        return {"sold": True}

    client = app.test_client()

    def send(method, path):
        return client.open(path, method=method).status_code


print()
print(json.dumps([send(method, path) for method, path in json.loads(requests)]))
