import { beforeEach, expect, test } from 'vitest';
import { findFloorBreaches } from '../../tools/lint/floors.ts';
import { folderPerTest } from '../fixtures/temp-folder.ts';

const WINGS = {
  scanner: { model: [], engine: ['model'] },
  cli: { commands: ['model'] },
  service: { store: ['model'], plugins: [], start: ['store'] },
};

const root = folderPerTest();

beforeEach(async () => {
  await write({
    'package.json':
      '{ "imports": { "#check": "./src/scanner/model/verdict.ts", "#store": "./src/service/store/store.ts" } }',
    'checks/P1-http-reachable/v1.ts': "export { fail } from '#check';\n",
    'plugins/error-answers.ts': 'export const errors = 1;\n',
    'src/main.ts': "export { service } from './service/start/service.ts';\n",
    'src/service/start/service.ts': "export { store as service } from '../store/store.ts';\n",
    'src/service/store/store.ts':
      "import { fail } from '../../scanner/model/verdict.ts';\n\nexport const store = fail;\n",
    'src/scanner/model/verdict.ts': 'export const fail = 1;\n',
    'src/scanner/engine/judge.ts': "export { fail } from '../model/verdict.ts';\n",
    'src/cli/main.ts': "export { fail } from '../scanner/model/verdict.ts';\n",
  });
});

async function write(files: Readonly<Record<string, string>>): Promise<void> {
  for (const [file, text] of Object.entries(files)) await root.write(file, text);
}

test('imports from lower floors have no finding', async () => {
  expect(await findFloorBreaches(root.path, WINGS)).toBe('');
});

test.each([
  [
    'an import upwards',
    'floor-model',
    { 'src/scanner/model/up.ts': "export { fail } from '../engine/judge.ts';\n" },
  ],
  [
    'a type import upwards',
    'floor-model',
    {
      'src/scanner/model/up.ts':
        "import type { fail } from '../engine/judge.ts';\n\nexport type Up = typeof fail;\n",
    },
  ],
  [
    'a dynamic import upwards',
    'floor-store',
    { 'src/service/store/late.ts': "export const late = () => import('../start/service.ts');\n" },
  ],
  [
    'a plugin that imports the service',
    'floor-plugins',
    { 'plugins/up.ts': "export { service } from '../src/service/start/service.ts';\n" },
  ],
  [
    'an import of the service into the scanner',
    'floor-model',
    { 'src/scanner/model/sold.ts': "export { store } from '../../service/store/store.ts';\n" },
  ],
  [
    'an import of the service into the command line',
    'floor-commands',
    { 'src/cli/sold.ts': "export { store } from '../service/store/store.ts';\n" },
  ],
  [
    'a room without a floor',
    'room-without-a-floor',
    { 'src/service/orders/order.ts': "export { fail } from '../../scanner/model/verdict.ts';\n" },
  ],
  [
    'a file that stands in a wing, and in no room',
    'room-without-a-floor',
    { 'src/scanner/order.ts': "export { fail } from './model/verdict.ts';\n" },
  ],
  [
    'a check that imports the store',
    'checks-are-pure',
    {
      'checks/P1-http-reachable/v1.ts':
        "export { store } from '../../src/service/store/store.ts';\n",
    },
  ],
  [
    'a check that imports a name of the store',
    'checks-are-pure',
    { 'checks/P1-http-reachable/v1.ts': "export { store } from '#store';\n" },
  ],
  [
    'an import of the file of a check',
    'checks-by-name',
    {
      'src/service/store/check.ts':
        "export { fail } from '../../../checks/P1-http-reachable/v1.ts';\n",
    },
  ],
  [
    'product code that imports a test',
    'product-stands-alone',
    {
      'test/a.ts': 'export const a = 1;\n',
      'src/service/store/a.ts': "export { a } from '../../../test/a.ts';\n",
    },
  ],
  [
    'an import circle',
    'no-circle',
    {
      'src/service/store/a.ts': "import type { B } from './b.ts';\n\nexport type A = B;\n",
      'src/service/store/b.ts': "import type { A } from './a.ts';\n\nexport type B = A | 1;\n",
    },
  ],
])('%s is refused by %s', async (_case, rule, files) => {
  await write(files);
  expect(await findFloorBreaches(root.path, WINGS)).toContain(rule);
});

test.each([
  ['a room that it does not import', ['model', 'store'], 'start names model, and imports nothing'],
  ['its own room', ['store', 'start'], 'start names start, which is not above it'],
  ['a room of the command line', ['store', 'commands'], 'commands, and service may not know cli'],
])('a row that names %s is refused', async (_case, start, message) => {
  const service = { ...WINGS.service, start };
  expect(await findFloorBreaches(root.path, { ...WINGS, service })).toContain(message);
});
