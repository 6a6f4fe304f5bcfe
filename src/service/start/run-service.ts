import { readFileSync } from 'node:fs';
import tls from 'node:tls';
import { inspect } from 'node:util';
import closeWithGrace from 'close-with-grace';
import { loadEnvFile } from '../../scanner/environment/env-file.ts';
import { SettingError } from '../../scanner/environment/read-sources.ts';
import { OperatorError, redact } from '../../scanner/model/redact.ts';
import { type Config, loadConfig } from '../config/config.ts';
import { findMisspelledSettings } from '../config/environment.ts';
import { SERVER_LIMITS } from '../http/app.ts';
import { openService, type Service } from './service.ts';

/** Time for running scans to end after a signal. */
const GRACE_MS = 15_000;
/** After this time the process ends, even if a part does not close. */
const MAX_CLOSE_MS = 30_000;
const PARENT_POLL_MS = 250;

const NO_RPC_WARNING =
  'Without RPC_URL, a settlement whose outcome was lost is sent again and not looked up on the chain: a payer who cancels in time gets the answer for nothing. D3 and D4 do not read the logs of the chain';

const PRIVATE_URL_WARNING =
  'BASE_URL is not a public https address: payers elsewhere cannot reach what they are asked to pay for';

/** The service cannot listen on HOST and PORT. */
class ListenError extends OperatorError {
  override readonly name = 'ListenError';
}

const LISTEN_HINTS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another process listens there. Stop it, or set PORT',
  EACCES: 'this user may not use this port. Set PORT to 1024 or more',
  EADDRNOTAVAIL: 'this machine has no such address. Set HOST to one that it has, such as 0.0.0.0',
};

/** Never rejects. If the start fails, it prints the error and sets the exit code. */
export async function runService(): Promise<void> {
  try {
    await start();
  } catch (error) {
    console.error(error instanceof OperatorError ? error.message : redact(inspect(error)));
    process.exitCode = 1;
  }
}

async function start(): Promise<void> {
  const parentAtStart = process.ppid;
  const caPathAtStart = process.env['NODE_EXTRA_CA_CERTS'];
  loadEnvFile();
  for (const line of findMisspelledSettings(process.env)) console.warn(line);
  const config = loadConfig(process.env);
  trustCertificates(process.env['NODE_EXTRA_CA_CERTS'], caPathAtStart);

  const service = await openService(config);
  try {
    const { backlog } = SERVER_LIMITS;
    await service.app.listen({ host: config.host, port: config.port, backlog });
  } catch (error) {
    await service.close();
    throw toListenError(error, config);
  }
  let isStopping = false;
  // The handler is registered only now, because during the start it would set the exit code of a signal to 0.
  closeWithGrace({ delay: MAX_CLOSE_MS }, async ({ err, signal }) => {
    isStopping = true;
    console.log(
      `Stopping${signal ? ` on ${signal}` : ''}: scans in flight have ${GRACE_MS / 1_000} s to end`,
    );
    if (err !== undefined) service.app.log.error({ err }, 'stopping after an error');
    await service.close(GRACE_MS);
  });
  if (process.env['npm_lifecycle_event'] !== undefined)
    stopWithParent(parentAtStart, () => isStopping);
  logStart(config, service);
}

/**
 * `npm start` runs a shell, which runs this process. A SIGTERM to npm reaches the shell only: it ends, and this process
 * would go on without it and keep port and store. A second signal would end a running stop at once, so none is sent then.
 */
function stopWithParent(parentAtStart: number, isStopping: () => boolean): void {
  const timer = setInterval(() => {
    if (process.ppid === parentAtStart) return;
    clearInterval(timer);
    if (!isStopping()) process.kill(process.pid, 'SIGTERM');
  }, PARENT_POLL_MS);
  timer.unref();
}

/** Node reads NODE_EXTRA_CA_CERTS before `.env` is loaded. A value from `.env` is applied here. */
function trustCertificates(path: string | undefined, caPathAtStart: string | undefined): void {
  if (!path || path === caPathAtStart) return;
  // Node 24.5 and later can change the CA list of a running process.
  if (typeof tls.setDefaultCACertificates !== 'function') {
    // Completes the message of SettingError: "… is not accepted: give …".
    const accepted = 'it in the environment, not in .env, or run Node 24.5 or later';
    throw new SettingError('NODE_EXTRA_CA_CERTS', path, accepted);
  }
  tls.setDefaultCACertificates([...tls.getCACertificates('default'), readFileSync(path, 'utf8')]);
}

function logStart(config: Config, service: Service): void {
  const { baseUrl, revision, payment, originPolicy } = config;
  const mode =
    payment.mode === 'mock' ? 'mock (signatures are verified, nothing is settled)' : payment.mode;
  const { kind, location } = service.store.info;
  const allowedHosts = [...originPolicy.allowHosts];
  const lines = [
    `Listening on ${readListenUrl(service)} (API ${revision.name}), BASE_URL ${baseUrl}`,
    `Payments: ${mode}, to ${payment.payTo} on ${payment.network}`,
    `Store: ${kind}, ${location}`,
    `Catalog: ${service.catalog.checksVersion}, ${service.catalog.checks.length} checks`,
    ...(payment.mode === 'facilitator' && payment.rpcUrl === null ? [NO_RPC_WARNING] : []),
    ...(config.takesMoneyWithoutPublicHttps ? [PRIVATE_URL_WARNING] : []),
    ...(allowedHosts.length > 0 ? [`Scans may also contact ${allowedHosts.join(', ')}`] : []),
  ];
  console.log(lines.join('\n'));
}

/** Returns the URL of the socket. The system assigns the port if PORT is 0. */
function readListenUrl({ app }: Service): string {
  const socket = app.server.address();
  if (socket === null || typeof socket === 'string') return String(socket);
  const { address, family, port } = socket;
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}

/** An error of the operating system, such as a busy port or an unknown name, becomes a line with HOST and PORT. */
function toListenError(error: unknown, { host, port }: Config): unknown {
  if (!(error instanceof Error && 'code' in error && 'syscall' in error)) return error;
  const code = String(error.code);
  const hint = LISTEN_HINTS[code] ?? 'set HOST to an address of this machine, such as 0.0.0.0';
  const place = `HOST=${JSON.stringify(host)}, PORT=${port}`;
  return new ListenError(`The service cannot listen (${place}): ${code}: ${hint}.`);
}
