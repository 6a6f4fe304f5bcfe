"""Serves the app of a patched program with its handlers: STACK FILE as arguments, PORT as setting."""

import os
import runpy
import sys

stack, file = sys.argv[1:3]
# Modules of the seller lie beside the program.
sys.path.insert(0, os.getcwd())
app = runpy.run_path(file)["app"]
port = int(os.environ["PORT"])

if stack == "fastapi":
    import uvicorn

    paths = {getattr(route, "path", None) for route in app.routes}
    # The patch of the document has handlers of its own for these.
    if "/weather" not in paths:
        app.get("/weather")(lambda: {"sky": "clear"})
    if "/summaries" not in paths:
        app.post("/summaries", include_in_schema=False)(lambda: {"sky": "clear"})
    if "/health" not in paths:
        app.get("/health")(lambda: {"status": "ok"})
    uvicorn.run(app, host="127.0.0.1", port=port, log_level="error")
else:
    rules = {rule.rule for rule in app.url_map.iter_rules()}
    if "/weather" not in rules:
        app.add_url_rule("/weather", "weather", lambda: {"sky": "clear"})
    app.add_url_rule("/summaries", "summaries", lambda: {"sky": "clear"}, methods=["POST"])
    app.add_url_rule("/health", "health", lambda: {"status": "ok"})
    app.run("127.0.0.1", port, threaded=True)
