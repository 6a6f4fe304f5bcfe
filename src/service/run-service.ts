import { readFileSync } from 'node:fs';
import tls from 'node:tls';
import { inspect } from 'node:util';
import closeWithGrace from 'close-with-grace';
import { type Config, loadConfig } from '../config/config.ts';
import { findMisspelledSettings, loadEnvFile, SettingError } from '../config/environment.ts';
import { CatalogError } from '../engine/catalog/catalog.ts';
import { SERVER_LIMITS } from '../http/app.ts';
import { redact } from '../model/redact.ts';
import { WrongNode } from '../payment/chain/node-requests.ts';
import { UnsupportedByFacilitator } from '../payment/settle/readiness.ts';
import { StoreError } from '../store/errors.ts';
import { openService, type Service } from './service.ts';

/** Time for running scans to end after a signal. */
const GRACE_MS = 15_000;
const MAX_CLOSE_MS = 30_000;

const NO_RPC_WARNING =
  'Without RPC_URL, a settlement whose outcome was lost is sent again and not looked up on the chain: a payer who cancels in time gets the answer for nothing. D3 and D4 do not read the logs of the chain';

/** Never rejects. If the start fails, it prints the error and sets the exit code. */
export async function runService(): Promise<void> {
  try {
    await start();
  } catch (error) {
    console.error(toErrorText(error));
    process.exitCode = 1;
  }
}

async function start(): Promise<void> {
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
    throw error;
  }
  // The handler is registered only now, because during the start it would set the exit code of a signal to 0.
  closeWithGrace({ delay: MAX_CLOSE_MS }, async ({ err, signal }) => {
    console.log(
      `Stopping${signal ? ` on ${signal}` : ''}: scans in flight have ${GRACE_MS / 1_000} s to end`,
    );
    if (err !== undefined) service.app.log.error({ err }, 'stopping after an error');
    await service.close(GRACE_MS);
  });
  logStart(config, service);
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

function logStart({ baseUrl, revision, payment, originPolicy }: Config, service: Service): void {
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

/** Returns one line for an error that an operator can fix, and the whole stack for any other error. */
function toErrorText(error: unknown): string {
  const isForOperators =
    error instanceof SettingError ||
    error instanceof CatalogError ||
    error instanceof StoreError ||
    error instanceof UnsupportedByFacilitator ||
    error instanceof WrongNode;
  if (isForOperators) return error.message;
  if (error instanceof Error && 'code' in error && error.code === 'EADDRINUSE') {
    return `${error.message}: another process listens there. Stop it, or set PORT.`;
  }
  return redact(inspect(error));
}
