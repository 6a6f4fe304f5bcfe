/** An install has no aliased package, and no SDK of a facilitator in the process with the signing key. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

type LockedPackage = {
  readonly name?: string;
  readonly dev?: boolean;
  readonly hasInstallScript?: boolean;
};

const manifest = JSON.parse(readFileSync('package.json', 'utf8'));
const lock: { packages: Record<string, LockedPackage> } = JSON.parse(
  readFileSync('package-lock.json', 'utf8'),
);
const installed = Object.entries(lock.packages).filter(([path]) =>
  path.startsWith('node_modules/'),
);

test('no package is installed under the name of another package', () => {
  const aliased = installed.filter(
    ([path, { name }]) => name !== undefined && !path.endsWith(name),
  );
  expect(aliased).toEqual([]);
  for (const target of Object.values<string>(manifest.overrides)) {
    expect(target).not.toMatch(/^npm:/);
  }
});

test('the service installs neither the Coinbase SDK nor axios, and no package with an install script', () => {
  const servicePackages = installed.filter(([, { dev }]) => dev !== true);
  const names = servicePackages.map(([path]) => path.replace(/^.*node_modules\//, ''));
  expect(names).not.toContain('@coinbase/cdp-sdk');
  expect(names).not.toContain('axios');
  expect(servicePackages.filter(([, { hasInstallScript }]) => hasInstallScript)).toEqual([]);
});
