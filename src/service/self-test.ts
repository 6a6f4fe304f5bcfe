import { fork } from 'node:child_process';
import { once } from 'node:events';
import type { Catalog } from '../engine/catalog/catalog.ts';
import type { DiscoveredCheck } from '../engine/catalog/discover-checks.ts';
import { threadEnvironment } from '../workers/thread-environment.ts';

export type SelfTestOptions = {
  readonly catalog: Pick<Catalog, 'checksVersion'>;
  readonly checks: readonly Pick<DiscoveredCheck, 'impl' | 'url'>[];
  /** Called when a check throws on an origin without answers: no scan of this build can be sold. */
  readonly onBroken: (fault: { readonly message: string }) => void;
  /** Called when the test could not run; the first scan repeats it. */
  readonly onError: (message: string, error: unknown) => void;
};

/** The message to `self-test-process.ts`. */
export type SelfTest = {
  readonly checksVersion: string;
  readonly modules: readonly (readonly [impl: string, url: string])[];
};

export type SelfTestResult = {
  readonly kind: 'whole' | 'broken' | 'failed';
  readonly message: string;
};

const ENTRY = new URL('./self-test-process.ts', import.meta.url);

/**
 * Runs every check once in a process of its own, so that an idle service does not hold the modules and
 * threads of scans. Never rejects.
 */
export async function testChecks(options: SelfTestOptions): Promise<void> {
  const { catalog, checks, onBroken, onError } = options;
  try {
    const child = fork(ENTRY, { env: threadEnvironment(), execArgv: [] });
    const order: SelfTest = {
      checksVersion: catalog.checksVersion,
      modules: checks.map(({ impl, url }) => [impl, url]),
    };
    const ended = once(child, 'exit');
    let result: SelfTestResult | undefined;
    child.once('message', (message) => {
      result = message as SelfTestResult; // the process of our own sends nothing else
    });
    child.send(order);
    await ended;
    if (result?.kind === 'broken') onBroken(result);
    else if (result?.kind !== 'whole') {
      onError('the checks could not be tried', result?.message ?? 'the process ended');
    }
  } catch (error) {
    onError('the checks could not be tried', error);
  }
}
