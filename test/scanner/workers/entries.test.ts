import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const REQUIRE_SCRIPT =
  'const entry = require(process.argv[1]); console.log(typeof entry, entry.name);';

// Each entry loads in another process, because one of them disables the network of its process.
test.each(['workers/worker.ts', 'clients/offline-worker.ts'])(
  '%s exports a function to the `require` of Piscina',
  (file) => {
    const entry = fileURLToPath(new URL(`../../../src/scanner/${file}`, import.meta.url));
    const printed = execFileSync(process.execPath, ['--eval', REQUIRE_SCRIPT, entry], {
      encoding: 'utf8',
    });
    expect(printed).toBe('function perform\n');
  },
);
