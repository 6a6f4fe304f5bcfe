import { type Scanner, ScannerFailure } from '../scan/scanner.ts';
import type { Scanning, ScanningOptions } from './scanning.ts';

/** Loads the fifty modules of a scan with the first one, so that an idle service starts fast and stays small. */
export function openScanning(options: ScanningOptions): Scanning {
  let opened: Promise<Scanning> | null = null;
  let scanner: Scanner | null = null;
  let isClosed = false;

  async function open(): Promise<Scanning> {
    const { createScanning } = await import('./scanning.ts');
    // A thread that starts after `close` would never end.
    if (isClosed) throw new ScannerFailure('The service stops.');
    const scanning = createScanning(options);
    scanner = scanning.scanner;
    return scanning;
  }
  const scanning = () => {
    opened ??= open();
    return opened;
  };
  return {
    scanner: {
      checksVersion: options.catalog.checksVersion,
      admit: async (origin) => (await scanning()).scanner.admit(origin),
      scan: async (...scan) => (await scanning()).scanner.scan(...scan),
      record: async (scan) => (await scanning()).scanner.record(scan),
      isSaturated: () => scanner?.isSaturated?.() === true,
      fault: () => scanner?.fault?.() ?? null,
      async close() {
        isClosed = true;
        await scanner?.close();
      },
    },
    fetchToken: async (...asked) => (await scanning()).fetchToken(...asked),
    judgeInHand: async (...inHand) => (await scanning()).judgeInHand(...inHand),
    askResources: async (...asked) => (await scanning()).askResources(...asked),
    resolve: async (origin) => (await scanning()).resolve(origin),
    postWebhook: async (...posted) => (await scanning()).postWebhook(...posted),
    askSeller: async (...asked) => (await scanning()).askSeller(...asked),
    askHost: async (...asked) => (await scanning()).askHost(...asked),
  };
}
