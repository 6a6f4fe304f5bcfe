// Serves the app of a patched program with its handlers: STACK FILE as arguments, PORT as setting.
import { createServer } from 'node:http';
import { pathToFileURL } from 'node:url';

const [stack, file] = process.argv.slice(2);
const port = Number(process.env['PORT']);
const { app } = await import(pathToFileURL(file).href);

if (stack === 'express') {
  app.get('/weather', (_request, response) => response.json({ sky: 'clear' }));
  app.get('/health', (_request, response) => response.json({ status: 'ok' }));
  app.listen(port, '127.0.0.1');
} else {
  app.get('/weather', (c) => c.json({ sky: 'clear' }));
  app.get('/health', (c) => c.json({ status: 'ok' }));
  createServer(async ({ method, headers, url }, outgoing) => {
    const response = await app.fetch(
      new Request(`http://${headers.host}${url}`, { method, headers }),
    );
    outgoing.writeHead(response.status, [...response.headers].flat());
    outgoing.end(method === 'HEAD' ? '' : Buffer.from(await response.arrayBuffer()));
  }).listen(port, '127.0.0.1');
}
