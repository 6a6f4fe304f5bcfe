/** An install has no aliased package, and no SDK of a facilitator in the process with the signing key. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

type Locked = {
  readonly name?: string;
  readonly dev?: boolean;
  readonly hasInstallScript?: boolean;
};

const manifest = JSON.parse(readFileSync('package.json', 'utf8'));
const lock: { packages: Record<string, Locked> } = JSON.parse(
  readFileSync('package-lock.json', 'utf8'),
);
const installed = Object.entries(lock.packages).filter(([path]) =>
  path.startsWith('node_modules/'),
);

test('no package is installed under the name of another', () => {
  const aliased = installed.filter(
    ([path, { name }]) => name !== undefined && !path.endsWith(name),
  );
  expect(aliased).toEqual([]);
  for (const target of Object.values<string>(manifest.overrides)) {
    expect(target).not.toMatch(/^npm:/);
  }
});

test('the service installs without the SDK of one facilitator, and runs no install script', () => {
  const inService = installed.filter(([, { dev }]) => dev !== true);
  const names = inService.map(([path]) => path.replace(/^.*node_modules\//, ''));
  expect(names).not.toContain('@coinbase/cdp-sdk');
  expect(names).not.toContain('axios');
  expect(inService.filter(([, { hasInstallScript }]) => hasInstallScript)).toEqual([]);
});
