/** Each folder of src has a floor. Code may import only from its own floor or a lower floor. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { findFloorBreaches } from '../../tools/lint/floors.ts';

const FLOORS = { model: [], store: ['model'], plugins: [], service: ['store'] };

let root: string;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'floors-'));
  await write({
    'package.json':
      '{ "imports": { "#check": "./src/model/verdict.ts", "#store": "./src/store/store.ts" } }',
    'checks/P1-http-reachable/v1.ts': "export { fail } from '#check';\n",
    'plugins/errors.ts': 'export const errors = 1;\n',
    'src/main.ts': "export { service } from './service/service.ts';\n",
    'src/service/service.ts': "export { store as service } from '../store/store.ts';\n",
    'src/store/store.ts':
      "import { fail } from '../model/verdict.ts';\n\nexport const store = fail;\n",
    'src/model/verdict.ts': 'export const fail = 1;\n',
  });
});

afterEach(() => rm(root, { recursive: true, force: true }));

async function write(files: Readonly<Record<string, string>>): Promise<void> {
  for (const [file, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, file)), { recursive: true });
    await writeFile(join(root, file), text);
  }
}

test('imports from lower floors have no finding', async () => {
  expect(await findFloorBreaches(root, FLOORS)).toBe('');
});

test.each([
  [
    'an import upwards',
    'floor-model',
    { 'src/model/up.ts': "export { store } from '../store/store.ts';\n" },
  ],
  [
    'a type import upwards',
    'floor-model',
    {
      'src/model/up.ts':
        "import type { store } from '../store/store.ts';\n\nexport type Up = typeof store;\n",
    },
  ],
  [
    'a dynamic import upwards',
    'floor-store',
    { 'src/store/late.ts': "export const late = () => import('../service/service.ts');\n" },
  ],
  [
    'a plugin that imports the service',
    'floor-plugins',
    { 'plugins/up.ts': "export { service } from '../src/service/service.ts';\n" },
  ],
  [
    'a folder of src without a floor',
    'room-without-a-floor',
    { 'src/orders/order.ts': "export { fail } from '../model/verdict.ts';\n" },
  ],
  [
    'a check that imports the store',
    'checks-are-pure',
    { 'checks/P1-http-reachable/v1.ts': "export { store } from '../../src/store/store.ts';\n" },
  ],
  [
    'a check that imports a name of the store',
    'checks-are-pure',
    { 'checks/P1-http-reachable/v1.ts': "export { store } from '#store';\n" },
  ],
  [
    'an import of the file of a check',
    'checks-by-name',
    { 'src/store/check.ts': "export { fail } from '../../checks/P1-http-reachable/v1.ts';\n" },
  ],
  [
    'product code that imports a test',
    'product-stands-alone',
    {
      'test/a.ts': 'export const a = 1;\n',
      'src/store/a.ts': "export { a } from '../../test/a.ts';\n",
    },
  ],
  [
    'an import circle',
    'no-circle',
    {
      'src/store/a.ts': "import type { B } from './b.ts';\n\nexport type A = B;\n",
      'src/store/b.ts': "import type { A } from './a.ts';\n\nexport type B = A | 1;\n",
    },
  ],
])('%s is refused by %s', async (_case, rule, files) => {
  await write(files);
  expect(await findFloorBreaches(root, FLOORS)).toContain(rule);
});

test.each([
  ['a room that it does not import', ['model', 'store'], 'service names model, and imports'],
  ['its own room', ['store', 'service'], 'service names service, which is not above it'],
])('a row that names %s is refused', async (_case, service, message) => {
  expect(await findFloorBreaches(root, { ...FLOORS, service })).toContain(message);
});
