/** Python middleware that sellers put around the payment middleware. */

const CACHED = 'public, max-age=60';

/** Middlewares that set a header of caches on every answer. */
export const CACHERS = {
  fastapi: `
@app.middleware("http")
async def cache(request: Request, call_next):
    response = await call_next(request)
    response.headers["Cache-Control"] = "${CACHED}"
    return response
`,
  flask: `
class Cache:
    def __init__(self, inner):
        self.inner = inner

    def __call__(self, environ, start_response):
        def start(status, headers, *rest):
            headers = [(k, v) for k, v in headers if k.lower() != "cache-control"]
            return start_response(status, [*headers, ("Cache-Control", "${CACHED}")], *rest)

        return self.inner(environ, start)


app.wsgi_app = Cache(app.wsgi_app)
`,
};

/** Limiters that count every request for the paid route: in front of the payment, and behind it. */
export const FASTAPI_LIMITER = `
calls = []


@app.middleware("http")
async def limit(request: Request, call_next):
    from fastapi.responses import JSONResponse

    if request.url.path == "/weather":
        calls.append(1)
    return JSONResponse({}, 429) if len(calls) > 1 else await call_next(request)
`;
export const WSGI_LIMITER = `
calls = []


class Limit:
    def __init__(self, inner):
        self.inner = inner

    def __call__(self, environ, start_response):
        if environ["PATH_INFO"] == "/weather":
            calls.append(1)
        if len(calls) < 2:
            return self.inner(environ, start_response)
        start_response("429 Too Many Requests", [("Content-Type", "text/plain")])
        return [b"slow down"]


app.wsgi_app = Limit(app.wsgi_app)
`;
export const FLASK_LIMITER = `
calls = []


@app.before_request
def limit():
    from flask import request

    if request.path == "/weather":
        calls.append(1)
    return ("slow down", 429) if len(calls) > 1 else None
`;
