"""Buys with the official client: a purchase as JSON in each line of the input, its answer in a line.

A purchase: {"library": "httpx" or "requests", "method", "url", "body" (JSON, optional),
"privateKey"}. Its answer: {"status", "headers" (names in lower case), "body"}, or {"error"}.
"""

import asyncio
import json
import sys

from eth_account import Account
from x402 import x402Client, x402ClientSync
from x402.http.clients.httpx import x402HttpxClient
from x402.http.clients.requests import x402_requests
from x402.mechanisms.evm.exact import register_exact_evm_client
from x402.mechanisms.evm.signers import EthAccountSigner

# httpx alone gives up after 5 s without a byte, and has no header to send again by then.
TIMEOUT = 90


async def buy_with_httpx(signer, method, url, body):
    client = register_exact_evm_client(x402Client(), signer)
    async with x402HttpxClient(client, timeout=TIMEOUT) as http:
        return await http.request(method, url, json=body)


def buy_with_requests(signer, method, url, body):
    client = register_exact_evm_client(x402ClientSync(), signer)
    with x402_requests(client) as session:
        return session.request(method, url, json=body, timeout=TIMEOUT)


def buy(purchase):
    signer = EthAccountSigner(Account.from_key(purchase["privateKey"]))
    order = (signer, purchase["method"], purchase["url"], purchase.get("body"))
    if purchase["library"] == "httpx":
        response = asyncio.run(buy_with_httpx(*order))
    else:
        response = buy_with_requests(*order)
    headers = {name.lower(): value for name, value in response.headers.items()}
    return {"status": response.status_code, "headers": headers, "body": response.text}


for line in sys.stdin:
    try:
        answer = buy(json.loads(line))
    except Exception as error:
        answer = {"error": f"{type(error).__name__}: {error}"}
    print(json.dumps(answer), flush=True)
