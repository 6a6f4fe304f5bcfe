/** Which room may know which: biome.json refuses the import that the folder READMEs forbid. */
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { needs } from '../fixtures/needs.ts';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PACKAGE = `@biomejs/cli-${process.platform}-${process.arch}`;

function biome(): string | null {
  try {
    return createRequire(import.meta.url).resolve(`${PACKAGE}/biome`);
  } catch {
    return null;
  }
}

const executable = biome();

describe('a room may not know another', needs(executable ? null : `no ${PACKAGE}`), () => {
  let root: string;
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'rooms-'));
    await cp(join(ROOT, 'biome.json'), join(root, 'biome.json'));
  });
  afterEach(() => rm(root, { recursive: true, force: true }));

  /** What Biome says of one line of code in `file`; empty where it is clean. */
  async function lint(file: string, code: string): Promise<string> {
    await mkdir(dirname(join(root, file)), { recursive: true });
    await writeFile(join(root, file), `/** A file. */\n${code}\n`);
    const args = ['lint', '--only=style/noRestrictedImports', '--vcs-enabled=false', file];
    return run(executable ?? '', args, { cwd: root }).then(
      () => '',
      ({ stdout, stderr }) => `${stdout}${stderr}`,
    );
  }

  test.each([
    ['src/model/a.ts', "export { parseJson } from '../parse/json/json.ts';"],
    ['src/parse/text/a.ts', "export type { Check } from '../../engine/define-check.ts';"],
    ['src/scan/a.ts', "export type { Gate } from '../payment/gate.ts';"],
    ['src/engine/a.ts', "export { fastify } from 'fastify';"],
    ['src/probe/plan/a.ts', "export { a } from '../../store/contract/store.ts';"],
    ['src/store/sqlite/a.ts', "export const a = import('../../http/app.ts');"],
    ['src/payment/a.ts', "export { a } from '../scan/run-scan.ts';"],
    ['src/http/routes/a.ts', "export { a } from '../../store/sqlite/store.ts';"],
    ['src/cli/a.ts', "export { a } from '../payment/gate.ts';"],
    ['src/service/a.ts', "export { a } from '../../test/fixtures/needs.ts';"],
    ['plugins/a.ts', "export { a } from '../checks/P6-price-integrity/v1.ts';"],
  ])('%s: %s', async (file, code) => {
    expect(await lint(file, code)).toContain('noRestrictedImports');
  });

  test.each([
    ['src/scan/a.ts', "export type { Store } from '../store/contract/store.ts';"],
    ['src/engine/pool/a.ts', "export { parseJson } from '../../parse/json/json.ts';"],
    ['src/store/mongo/a.ts', "export type { Grade } from '../../model/report.ts';"],
  ])('but downwards it may: %s: %s', async (file, code) => {
    expect(await lint(file, code)).toBe('');
  });
});
