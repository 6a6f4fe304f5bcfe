// Sends each request without a payment to the app of a patch, and prints the statuses.
import { registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';

// Next has no map of exports, so Node needs the file name of "next/server".
registerHooks({
  resolve: (name, context, next) => next(name === 'next/server' ? 'next/server.js' : name, context),
});

const [stack, requests, ...files] = process.argv.slice(2);
const modules = await Promise.all(files.map((file) => import(pathToFileURL(file).href)));
const [{ app }] = modules;
const ORIGIN = 'http://127.0.0.1';

const ask = {
  async express() {
    app.use((_request, response) => response.json({ sold: true }));
    const server = await new Promise((resolve) => {
      const listening = app.listen(0, ORIGIN.slice(7), () => resolve(listening));
    });
    const at = `${ORIGIN}:${server.address().port}`;
    return { send: (method, path) => fetch(at + path, { method }), end: () => server.close() };
  },
  async hono() {
    app.all('*', (c) => c.json({ sold: true }));
    const [{ fetch: served }] = modules;
    const handle = served ?? app.fetch;
    return { send: (method, path) => handle(new Request(ORIGIN + path, { method })) };
  },
  async next() {
    const { NextRequest } = await import(`${process.cwd()}/node_modules/next/server.js`);
    // This router picks the first file whose folders match the path.
    const routes = files.map((file, index) => {
      const path = file.slice(file.indexOf('/app/') + 4, -'/route.mjs'.length);
      return { pattern: new RegExp(`^${path.replace(/\[\w+\]/g, '[^/]+')}$`), of: modules[index] };
    });
    return {
      async send(method, path) {
        const { of } = routes.find(({ pattern }) => pattern.test(path)) ?? {};
        const handler = of?.[method] ?? (method === 'HEAD' ? of?.GET : undefined);
        return handler ? handler(new NextRequest(ORIGIN + path, { method })) : { status: 404 };
      },
    };
  },
};

const { send, end } = await ask[stack]();
const statuses = [];
for (const [method, path] of JSON.parse(requests)) statuses.push((await send(method, path)).status);
process.stdout.write(`\n${JSON.stringify(statuses)}\n`);
end?.();
process.exit(0);
