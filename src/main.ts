/** `npm start`: reads the settings, opens the service, listens, and stops in good order. */
import { readFileSync } from 'node:fs';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import closeWithGrace from 'close-with-grace';
import { type Config, loadConfig } from './config.ts';
import { CatalogError } from './engine/errors.ts';
import { UnsupportedByFacilitator } from './payment/readiness.ts';
import { openService, type Service } from './service.ts';
import { SettingError } from './settings.ts';
import { StoreError } from './store/store-error.ts';

/** Scans in flight may end within this time after a signal. */
const GRACE_MS = 15_000;
const CLOSE_WITHIN_MS = 30_000;

async function main(): Promise<void> {
  const knownCertificates = process.env['NODE_EXTRA_CA_CERTS'];
  loadEnvFile();
  const config = loadConfig(process.env);
  trustCertificates(process.env['NODE_EXTRA_CA_CERTS'], knownCertificates);

  const service = await openService(config);
  try {
    await service.app.listen({ host: config.host, port: config.port });
  } catch (error) {
    await service.close();
    throw error;
  }
  // Not before: it would turn the exit code of a failed start into success.
  closeWithGrace({ delay: CLOSE_WITHIN_MS }, async ({ err }) => {
    if (err !== undefined) service.app.log.error({ err }, 'stopping after an error');
    await service.close(GRACE_MS);
  });
  announce(config, service);
}

function loadEnvFile(): void {
  try {
    process.loadEnvFile();
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
  }
}

/** Node reads the setting of its environment by itself; one from `.env` comes too late for that. */
function trustCertificates(path: string | undefined, known: string | undefined): void {
  if (!path || path === known) return;
  setDefaultCACertificates([...getCACertificates('default'), readFileSync(path, 'utf8')]);
}

function announce({ baseUrl, revision, payment, originPolicy }: Config, service: Service): void {
  const mode =
    payment.mode === 'mock' ? 'mock (signatures are verified, nothing is settled)' : payment.mode;
  const { kind, location } = service.store.info;
  const exceptions = [...originPolicy.allowHosts];
  const lines = [
    `Listening on ${baseUrl} (API ${revision.name})`,
    `Payments: ${mode}, to ${payment.payTo} on ${payment.network}`,
    `Store: ${kind}, ${location}`,
    `Catalog: ${service.catalog.checksVersion}, ${service.catalog.checks.length} checks`,
    ...(exceptions.length > 0 ? [`Scans may also contact ${exceptions.join(', ')}`] : []),
  ];
  console.log(lines.join('\n'));
}

/** What an operator can mend is told in one line; anything else with all that is known of it. */
function explain(error: unknown): unknown {
  const isForOperators =
    error instanceof SettingError ||
    error instanceof CatalogError ||
    error instanceof StoreError ||
    error instanceof UnsupportedByFacilitator;
  if (isForOperators) return error.message;
  if (error instanceof Error && 'code' in error && error.code === 'EADDRINUSE') {
    return `${error.message}: another process listens there. Stop it, or set PORT.`;
  }
  return error;
}

main().catch((error: unknown) => {
  console.error(explain(error));
  process.exitCode = 1;
});
