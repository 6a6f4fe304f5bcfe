"""GET /weather, GET /forecast and GET /broken behind the official middleware for FastAPI or Flask."""

import os
import sys

from x402.extensions.bazaar import OutputConfig, declare_discovery_extension
from x402.http import FacilitatorConfig
from x402.mechanisms.evm.exact import register_exact_evm_server

NETWORK = "eip155:84532"
PORT = int(os.environ["PORT"])
CONFIG = FacilitatorConfig(url=os.environ["FACILITATOR_URL"])
served = 0


def paid(price):
    return {
        "accepts": {
            "scheme": "exact",
            "network": NETWORK,
            "payTo": "0x2222222222222222222222222222222222222222",
            "price": price,
        },
        "description": "Weather",
        "extensions": declare_discovery_extension(
            input={"city": "Bern"},
            input_schema={
                "properties": {"city": {"type": "string"}},
                "required": ["city"],
            },
            output=OutputConfig(example={"sky": "clear"}),
        ),
    }


ROUTES = {
    "GET /weather": paid("$0.01"),
    "GET /forecast": paid("$0.02"),
    "GET /broken": paid("$0.01"),
}


def work(path):
    global served
    served += 1
    return {"path": path, "sky": "clear", "wind": 3, "served": f"{served:06}"}


def fastapi():
    import uvicorn
    from fastapi import FastAPI, Request
    from fastapi.responses import JSONResponse
    from x402 import x402ResourceServer
    from x402.http import HTTPFacilitatorClient
    from x402.http.middleware.fastapi import payment_middleware

    server = x402ResourceServer(HTTPFacilitatorClient(CONFIG))
    register_exact_evm_server(server, NETWORK)
    app = FastAPI()
    guard = payment_middleware(ROUTES, server)

    @app.middleware("http")
    async def x402(request: Request, call_next):
        return await guard(request, call_next)

    @app.get("/weather")
    async def weather():
        return work("/weather")

    @app.get("/forecast")
    async def forecast():
        return work("/forecast")

    @app.get("/broken")
    async def broken():
        return JSONResponse({"error": "no work"}, status_code=503)

    uvicorn.run(app, host="127.0.0.1", port=PORT, log_level="error")


def flask():
    from flask import Flask, jsonify
    from x402 import x402ResourceServerSync
    from x402.http import HTTPFacilitatorClientSync
    from x402.http.middleware.flask import payment_middleware

    server = x402ResourceServerSync(HTTPFacilitatorClientSync(CONFIG))
    register_exact_evm_server(server, NETWORK)
    app = Flask(__name__)
    payment_middleware(app, ROUTES, server)

    @app.get("/weather")
    def weather():
        return jsonify(work("/weather"))

    @app.get("/forecast")
    def forecast():
        return jsonify(work("/forecast"))

    @app.get("/broken")
    def broken():
        return jsonify({"error": "no work"}), 503

    app.run("127.0.0.1", PORT, threaded=True)


{"fastapi": fastapi, "flask": flask}[sys.argv[1]]()
