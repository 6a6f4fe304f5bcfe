import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { expect, test } from 'vitest';
import { freePort } from '../../fixtures/service/free-port.ts';
import { listenLocally } from '../../fixtures/service/local-server.ts';
import { folderPerFile } from '../../fixtures/temp-folder.ts';
import { runCli } from '../run-cli.ts';

const TIMEOUT_MS = 120_000;

/** A seller that serves documents with URLs on OTHER, and redirects every other request to OTHER. */
const SELLER = `
  import { createServer } from 'node:http';
  const { PORT, OTHER } = process.env;
  const paths = { '/paid': { get: { responses: { 402: { description: 'Payment' } } } } };
  const info = { title: 'A', version: '1' };
  const documents = {
    '/openapi.json': JSON.stringify({ openapi: '3.1.0', info, servers: [{ url: OTHER }], paths }),
    '/llms.txt': '# A\\n\\n> b\\n\\n## C\\n\\n- [d](' + OTHER + '/paid)\\n',
    '/.well-known/x402': JSON.stringify({ version: 1, resources: [OTHER + '/paid'] }),
  };
  createServer((request, response) => {
    const document = documents[request.url];
    if (document === undefined) response.writeHead(307, { location: OTHER + request.url }).end();
    else response.end(document);
  }).listen(Number(PORT), '127.0.0.1');
`;

const folder = folderPerFile();

/** Runs the command with a seller whose documents and redirects lead to `other`. */
async function payTest(other: string, flags: readonly string[], environment = {}) {
  const seller = await folder.write('seller.mjs', SELLER);
  const port = await freePort();
  const start = `PORT=${port} OTHER=${other} exec ${JSON.stringify(process.execPath)} ${JSON.stringify(seller)}`;
  return runCli(['pay-test', `http://127.0.0.1:${port}`, '--start', start, ...flags], environment);
}

test('the run sends no request to another origin, although documents and redirects of the seller lead there', {
  timeout: TIMEOUT_MS,
}, async () => {
  const requestedPaths: string[] = [];
  const otherServer = createServer((request, response) => {
    requestedPaths.push(request.url ?? '');
    response.writeHead(402).end('{}');
  });
  await using other = await listenLocally(otherServer);
  const withoutRoute = await payTest(other.url, ['--only', 'T1']);
  expect(withoutRoute).toMatchObject({ code: 2, stdout: '' });
  expect(withoutRoute.stderr).toContain('no route asks for a payment');
  const withRoute = await payTest(other.url, ['--only', 'T1', '--route', 'GET /paid']);
  expect(withRoute.stdout).toContain('GET /paid: answers 307 instead of 402');
  expect(requestedPaths).toEqual([]);
});

/** Refuses each connection to another machine, and appends its host to the file CONNECTIONS_FILE. */
const WATCHING_SCRIPT = `
  import { appendFileSync } from 'node:fs';
  import { Socket } from 'node:net';
  const connect = Socket.prototype.connect;
  Socket.prototype.connect = function (...args) {
    // The first argument is an options object, an array that begins with one, or a port.
    const [target] = [args[0]].flat();
    const host = String((typeof target === 'object' ? target.host : args[1]) ?? 'localhost');
    if (/^(?:127\\.|localhost$|::1$)/.test(host)) return connect.apply(this, args);
    appendFileSync(process.env.CONNECTIONS_FILE, host + ' ');
    return this.destroy(new Error('no connection in this test'));
  };
`;

test('the run does not follow a redirect to a public address', {
  timeout: TIMEOUT_MS,
}, async () => {
  const watchingScript = await folder.write('watching.mjs', WATCHING_SCRIPT);
  const connectionsFile = await folder.write('connections', '');
  const { code, stderr } = await payTest('https://93.184.216.34', [], {
    NODE_OPTIONS: `--import=${watchingScript}`,
    CONNECTIONS_FILE: connectionsFile,
  });
  expect(code).toBe(2);
  expect(stderr).toContain('no route asks for a payment');
  expect(await readFile(connectionsFile, 'utf8')).toBe('');
});
