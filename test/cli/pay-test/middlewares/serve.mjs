// GET /weather, GET /forecast and GET /broken behind one official middleware: PACKAGES MIDDLEWARE as arguments,
// PORT and FACILITATOR_URL as settings.
import { createServer } from 'node:http';
import { createRequire, registerHooks } from 'node:module';
import { join } from 'node:path';

// Next has no map of exports, so Node needs the file name of "next/server".
registerHooks({
  resolve: (name, context, next) => next(name === 'next/server' ? 'next/server.js' : name, context),
});

const [folder, middleware] = process.argv.slice(2);
const need = createRequire(join(folder, 'package.json'));
const { PORT, FACILITATOR_URL } = process.env;
const PAY_TO = '0x2222222222222222222222222222222222222222';
const NETWORK = 'eip155:84532';
let served = 0;

function work(path) {
  served += 1;
  return { path, sky: 'clear', wind: 3, served: String(served).padStart(6, '0') };
}
const accepts = (price) => ({ scheme: 'exact', network: NETWORK, price, payTo: PAY_TO });
/** Each route declares an example call, as an index lists it; the package of version 1 knows none. */
function discovery() {
  const { declareDiscoveryExtension } = need('@x402/extensions/bazaar');
  return declareDiscoveryExtension({
    input: { city: 'Bern' },
    inputSchema: { properties: { city: { type: 'string' } }, required: ['city'] },
    output: { example: { sky: 'clear' } },
  });
}
const sold = (price, description) => ({
  accepts: accepts(price),
  description,
  extensions: discovery(),
});
const ROUTES =
  middleware === 'express-v1'
    ? {}
    : {
        'GET /weather': sold('$0.01', 'Weather'),
        'GET /forecast': sold('$0.02', 'Forecast'),
        'GET /broken': sold('$0.01', 'Broken'),
      };

async function resourceServer() {
  const { HTTPFacilitatorClient, x402ResourceServer } = need('@x402/core/server');
  const { ExactEvmScheme } = need('@x402/evm/exact/server');
  const { bazaarResourceServerExtension } = need('@x402/extensions/bazaar');
  const facilitator = new HTTPFacilitatorClient({ url: FACILITATOR_URL });
  const server = new x402ResourceServer(facilitator)
    .register(NETWORK, new ExactEvmScheme())
    .registerExtension(bazaarResourceServerExtension);
  await server.initialize();
  return server;
}

const STARTS = {
  async express() {
    const express = need('express');
    const { paymentMiddleware } = need('@x402/express');
    const app = express();
    app.use(paymentMiddleware(ROUTES, await resourceServer(), undefined, undefined, false));
    listenExpress(app);
  },
  async 'express-v1'() {
    const express = need('express');
    const { paymentMiddleware } = need('x402-express');
    const price = (dollars) => ({ price: dollars, network: 'base-sepolia' });
    const routes = {
      'GET /weather': price('$0.01'),
      'GET /forecast': price('$0.02'),
      'GET /broken': price('$0.01'),
    };
    const app = express();
    app.use(paymentMiddleware(PAY_TO, routes, { url: FACILITATOR_URL }));
    listenExpress(app);
  },
  async hono() {
    const { Hono } = need('hono');
    const { paymentMiddleware } = need('@x402/hono');
    const app = new Hono();
    app.use(paymentMiddleware(ROUTES, await resourceServer(), undefined, undefined, false));
    app.get('/weather', (c) => c.json(work('/weather')));
    app.get('/forecast', (c) => c.json(work('/forecast')));
    app.get('/broken', (c) => c.json({ error: 'no work' }, 503));
    serveFetch((request) => app.fetch(request));
  },
  async next() {
    const { withX402 } = need('@x402/next');
    const { NextRequest, NextResponse } = need('next/server');
    const server = await resourceServer();
    const sell = (key) => {
      const path = key.slice(4);
      const handler = async () =>
        path === '/broken'
          ? NextResponse.json({ error: 'no work' }, { status: 503 })
          : NextResponse.json(work(path));
      return withX402(handler, ROUTES[key], server);
    };
    const handlers = new Map(Object.keys(ROUTES).map((key) => [key.slice(4), sell(key)]));
    // The app router: exact folders, GET for HEAD too.
    serveFetch((request) => {
      const handler = handlers.get(new URL(request.url).pathname);
      const isRead = request.method === 'GET' || request.method === 'HEAD';
      if (handler === undefined) return new Response('', { status: 404 });
      return isRead ? handler(new NextRequest(request)) : new Response('', { status: 405 });
    });
  },
  async 'next-proxy'() {
    const { paymentProxy } = need('@x402/next');
    const { NextRequest } = need('next/server');
    const proxy = paymentProxy(ROUTES, await resourceServer(), undefined, undefined, false);
    // Next routes a request that the proxy lets through, and keeps the headers of the proxy.
    serveFetch(async (request) => {
      const passed = await proxy(new NextRequest(request));
      if (passed.headers.get('x-middleware-next') !== '1') return passed;
      const { pathname } = new URL(request.url);
      const isRead = request.method === 'GET' || request.method === 'HEAD';
      const isSold = isRead && Object.hasOwn(ROUTES, `GET ${pathname}`);
      const isBroken = pathname === '/broken';
      const status = !isSold ? 404 : isBroken ? 503 : 200;
      const headers = new Headers(passed.headers);
      headers.set('content-type', 'application/json');
      return new Response(JSON.stringify(status === 200 ? work(pathname) : {}), {
        status,
        headers,
      });
    });
  },
};

function listenExpress(app) {
  app.get('/weather', (_request, response) => response.json(work('/weather')));
  app.get('/forecast', (_request, response) => response.json(work('/forecast')));
  app.get('/broken', (_request, response) => response.status(503).json({ error: 'no work' }));
  app.listen(Number(PORT), '127.0.0.1');
}

function serveFetch(answer) {
  createServer(async (incoming, outgoing) => {
    const chunks = [];
    for await (const chunk of incoming) chunks.push(chunk);
    const { method, headers, url } = incoming;
    const body = chunks.length > 0 ? Buffer.concat(chunks) : undefined;
    try {
      const request = new Request(`http://${headers.host}${url}`, { method, headers, body });
      const response = await answer(request);
      outgoing.writeHead(response.status, [...response.headers].flat());
      outgoing.end(method === 'HEAD' ? '' : Buffer.from(await response.arrayBuffer()));
    } catch {
      outgoing.writeHead(500).end();
    }
  }).listen(Number(PORT), '127.0.0.1');
}

await STARTS[middleware]();
