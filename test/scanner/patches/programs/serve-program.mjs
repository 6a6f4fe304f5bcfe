// Serves the app of a patched program with its handlers: STACK FILE as arguments, PORT as setting.
// FRONT is the command of a proxy that starts when the app listens.
import { spawn } from 'node:child_process';
import { createServer } from 'node:http';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const [stack, file] = process.argv.slice(2);
const port = Number(process.env['PORT']);
const front = process.env['FRONT'];
const startFront = () => front && spawn(front, { shell: true, stdio: 'inherit' });
const { app, fetch: served } = await import(pathToFileURL(resolve(file)).href);

if (stack === 'express') {
  app.get('/weather', (_request, response) => response.json({ sky: 'clear' }));
  app.post('/summaries', (_request, response) => response.json({ sky: 'clear' }));
  app.get('/health', (_request, response) => response.json({ status: 'ok' }));
  app.listen(port, '127.0.0.1', startFront);
} else {
  app.get('/weather', (c) => c.json({ sky: 'clear' }));
  app.post('/summaries', (c) => c.json({ sky: 'clear' }));
  app.get('/health', (c) => c.json({ status: 'ok' }));
  const answer = served ?? app.fetch;
  createServer(async (incoming, outgoing) => {
    const { method, headers, url } = incoming;
    const chunks = [];
    for await (const chunk of incoming) chunks.push(chunk);
    const body = chunks.length > 0 ? Buffer.concat(chunks) : undefined;
    const request = new Request(`http://${headers.host}${url}`, { method, headers, body });
    const response = await answer(request);
    outgoing.writeHead(response.status, [...response.headers].flat());
    outgoing.end(method === 'HEAD' ? '' : Buffer.from(await response.arrayBuffer()));
  }).listen(port, '127.0.0.1');
}
