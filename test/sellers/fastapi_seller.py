"""A seller on the official middleware for FastAPI, as its README shows it; prints where it listens.

Sells GET /weather and POST /summaries; GET /health is free. FastAPI writes /openapi.json by itself
and says nothing of payment in it.
"""

import socket
import sys

import uvicorn
from fastapi import FastAPI, Request
from x402 import x402ResourceServer
from x402.http import FacilitatorConfig, HTTPFacilitatorClient
from x402.http.middleware.fastapi import payment_middleware
from x402.mechanisms.evm.exact import register_exact_evm_server

facilitator_url, pay_to = sys.argv[1:]

server = x402ResourceServer(HTTPFacilitatorClient(FacilitatorConfig(url=facilitator_url)))
register_exact_evm_server(server, "eip155:8453")


def paid(price: str, description: str) -> dict:
    return {
        "accepts": {
            "scheme": "exact",
            "network": "eip155:8453",
            "payTo": pay_to,
            "price": price,
        },
        "description": description,
    }


app = FastAPI(title="Weather and words")
guard = payment_middleware(
    {
        "GET /weather": paid("$0.01", "The weather of a city."),
        "POST /summaries": paid("$0.02", "A summary of a text."),
    },
    server,
)


@app.middleware("http")
async def x402(request: Request, call_next):
    return await guard(request, call_next)


@app.get("/health")
async def health() -> dict:
    return {"status": "ok"}


@app.get("/weather")
async def weather(city: str = "Lisbon") -> dict:
    return {"city": city, "sky": "clear"}


@app.post("/summaries")
async def summaries(body: dict) -> dict:
    return {"summary": str(body.get("text", ""))[:100]}


listener = socket.create_server(("127.0.0.1", 0))
print(f"listening http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
uvicorn.Server(uvicorn.Config(app, log_level="warning")).run(sockets=[listener])
