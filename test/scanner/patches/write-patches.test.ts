/** A finding has one patch for each stack, filled with the facts of the report. */
import { describe, expect, test } from 'vitest';
import { listCatalogs, loadCatalog } from '../../../src/scanner/engine/catalog/catalog.ts';
import { discoverChecks } from '../../../src/scanner/engine/catalog/discover-checks.ts';
import { type Patch, readPatch, STACKS, type Stack } from '../../../src/scanner/patches/patch.ts';
import {
  choosePlaceholders,
  type PatchValues,
  PLACEHOLDERS,
  readPatchValues,
} from '../../../src/scanner/patches/patch-values.ts';
import { CHECK_TOPICS } from '../../../src/scanner/patches/topics.ts';
import { writePatches } from '../../../src/scanner/patches/write-patches.ts';
import { HOSTILE_PATHS, PAY_TO, paidRoute, report, TEMPLATES } from './reports.ts';

const checks = await discoverChecks();
const catalog = await loadCatalog((await listCatalogs()).at(-1) ?? '', { checks });
const SELLER_CHECKS = catalog.checks.filter(({ category }) => category !== 'directory');

function readCode(patch: Patch | undefined): string {
  if (patch === undefined || 'whyNot' in patch) return '';
  return patch.parts.map(({ file, code }) => `${file}\n${code}`).join('\n');
}

describe.each(SELLER_CHECKS.map(({ id, impl }) => [id, impl] as const))('%s', (id, impl) => {
  test.each(STACKS)('has a patch for %s, or one line with the reason why not', (stack) => {
    const fix = writePatches(id, stack, choosePlaceholders(id));
    expect(fix?.patches.length).toBeGreaterThan(0);
    for (const { patch } of fix?.patches ?? []) {
      if ('whyNot' in patch) expect(patch.whyNot).toMatch(/^[^\n]{20,150}$/);
      else for (const { code } of patch.parts) expect(code).toMatch(/\S\n$/);
    }
  });

  test('has a patch for each outcome, and names only outcomes of its check', () => {
    const outcomes = checks.find((check) => check.impl === impl)?.definition.outcomes ?? [];
    expect(outcomes.length).toBeGreaterThan(1);
    const { topicsByOutcome = {}, fixesWithoutCode = {} } = CHECK_TOPICS[id] ?? {};
    for (const outcome of outcomes) {
      const topics = [topicsByOutcome[outcome] ?? []].flat();
      const { patches = [] } = writePatches(id, 'express', PLACEHOLDERS, outcome) ?? {};
      expect(patches).toHaveLength(Math.max(1, topics.length));
    }
    expect(outcomes).toEqual(
      expect.arrayContaining(Object.keys({ ...topicsByOutcome, ...fixesWithoutCode })),
    );
  });
});

test('code with a mark that has no value is refused, because a seller would get the mark', () => {
  const origin = "'https://api.example.com'";
  expect(readCode(readPatch('javascript', 'links.ts', { origin }))).toContain(origin);
  for (const literals of [{}, { host: origin }]) {
    expect(() => readPatch('javascript', 'links.ts', literals)).toThrow(/links.*{{origin}}/);
  }
});

test('a standing check has no patch, because it judges the answers of indexes and not of the seller', () => {
  expect(writePatches('D1', 'express', PLACEHOLDERS)).toBeNull();
});

/** Topics of advice about the position of a call. A sentence says it better than code. */
const TOPICS_IN_WORDS: readonly string[] = ['limiter', 'own-server'];

test("every stack but nginx has a patch for each check of the seller's code", () => {
  for (const { id } of SELLER_CHECKS.filter((check) => check.id !== 'P1')) {
    for (const stack of STACKS.filter((stack) => stack !== 'nginx')) {
      const patches = writePatches(id, stack, PLACEHOLDERS)?.patches ?? [];
      const inWords = patches.filter(({ patch }) => 'whyNot' in patch).map(({ topic }) => topic);
      expect(inWords.filter((topic) => !TOPICS_IN_WORDS.includes(topic))).toEqual([]);
    }
  }
});

describe('the token of a price', () => {
  const CELO_USDT = {
    network: 'eip155:42220',
    asset: '0x48065fbBE25f71C9282ddf5e1cD6D6A887483D5e',
  };
  const SDK_STACKS = STACKS.filter((stack) => stack !== 'nginx');

  test.each(SDK_STACKS)('has its own EIP-712 domain for %s', (stack) => {
    const values = readPatchValues(report({ paid: [paidRoute('/weather')] }));
    for (const outcome of ['wrong-domain', 'no-domain']) {
      const code = readCode(writePatches('P3', stack, values, outcome)?.patches[0]?.patch);
      for (const part of ['10000', '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913', 'USD Coin']) {
        expect(code).toContain(part);
      }
      expect(code).not.toContain('$0.01');
    }
    const priced = readCode(writePatches('P3', stack, values, 'timeout')?.patches[0]?.patch);
    expect(priced).toContain('$0.01');
  });

  test.each(SDK_STACKS)('is kept if it is not the default of the network, for %s', (stack) => {
    const values = readPatchValues(report({ paid: [paidRoute('/weather', CELO_USDT)] }));
    const code = readCode(writePatches('P4', stack, values)?.patches[0]?.patch);
    expect(code).toContain(CELO_USDT.asset);
    expect(code).toContain('Tether USD');
  });

  test('is not named if our tables do not have it', () => {
    const other = { asset: `0x${'ab'.repeat(20)}` };
    const values = readPatchValues(report({ paid: [paidRoute('/weather', other)] }));
    const code = readCode(writePatches('P3', 'express', values, 'no-domain')?.patches[0]?.patch);
    expect(code).not.toContain(other.asset);
    expect(code).toContain("price: '$<price>'");
  });
});

describe('values', () => {
  test('are the facts of the report', () => {
    expect(readPatchValues(report())).toMatchObject({
      ...{ origin: 'https://api.example.com', host: 'api.example.com' },
      routes: [
        { method: 'GET', price: '0.01', network: 'eip155:8453', payTo: PAY_TO },
        { method: 'POST', price: '0.02', description: 'Weather, "now"' },
      ],
      freeOperations: [{ method: 'GET', template: [{ kind: 'text', text: '/health' }] }],
    });
  });

  test.each([
    ['1', '0.000001'],
    ['1000000', '1'],
    ['12340000', '12.34'],
    ['0', PLACEHOLDERS.routes[0].price],
    ['0.05', PLACEHOLDERS.routes[0].price],
  ])('an amount of %s is %s dollars', (amount, price) => {
    expect(readPatchValues(report({ amount })).routes[0].price).toBe(price);
  });

  test('stay placeholders if a report does not know them', () => {
    const values = readPatchValues({ origin: 'https://api.example.com', results: [] });
    expect(values).toEqual({
      ...PLACEHOLDERS,
      origin: 'https://api.example.com',
      host: 'api.example.com',
    });
    expect(readPatchValues(report(), null)).toMatchObject({
      origin: '<https://your-domain>',
      host: '<your-domain>',
    });
  });

  test.each(['\n', '\u202e', '\u0000', '\u2028'])(
    'stay placeholders if the fact contains %j',
    (hidden) => {
      const withHidden = report({ path: `/a${hidden}b`, network: `eip155:${hidden}1` });
      expect(readPatchValues(withHidden).routes[0]).toMatchObject({
        ...{ template: null, example: null, price: '<price>', network: '<network:id>' },
      });
    },
  );

  test.each([
    ['base-mainnet', 'eip155:8453'],
    ['solana-mainnet', 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp'],
    ['gold', '<network:id>'],
  ])('have for the network %j the network %j', (network, expected) => {
    expect(readPatchValues(report({ network })).routes[0].network).toBe(expected);
  });

  test('do not include a recipient in which check P7 finds a fault', () => {
    expect(readPatchValues(report({ p7: 'bad-checksum' })).routes[0].payTo).toBe('<payTo>');
  });
});

test.each(HOSTILE_PATHS)('%j is not written into nginx patches or file names', (path) => {
  const values = readPatchValues(report({ path }));
  for (const id of ['P4', 'P5']) {
    const fix = writePatches(id, 'nginx', values);
    for (const { patch } of fix?.patches ?? []) {
      expect(readCode(patch)).not.toMatch(/__import__|process|passwd|\/a/);
    }
  }
  for (const { patch } of writePatches('P8', 'next', values)?.patches ?? []) {
    if ('whyNot' in patch) throw new Error(patch.whyNot);
    expect(patch.parts.map(({ file }) => file)).toEqual([
      'app/<route>/route.ts',
      'app/summaries/route.ts',
    ]);
  }
});

const readAllCode = (id: string, stack: Stack, values: PatchValues) =>
  (writePatches(id, stack, values)?.patches ?? []).map(({ patch }) => readCode(patch)).join('\n');
const GUARDING_CHECKS = ['P2', 'P3', 'P4', 'P5', 'P8', 'S5'];

describe.each(STACKS.filter((stack) => stack !== 'nginx'))(
  'the routes in patches for %s',
  (stack) => {
    const routesByStack: Readonly<Record<string, readonly string[]>> = {
      express: ['/weather/:city', '/files/:name.json', '/v1/:a/x/:b_c'],
      hono: ['/weather/:city', '/files/:name.json', '/v1/:a/x/:b_c'],
      next: ['app/weather/[city]/route.ts', 'app/v1/[a]/x/[b_c]/route.ts', 'app/news/route.ts'],
      fastapi: ['/weather/[city]', '/weather/{city}', '/v1/[a]/x/[b_c]'],
      flask: ['/weather/[city]', '/weather/<city>', '/v1/<a>/x/<b_c>'],
      go: ['/weather/[city]', '/weather/{city}', '/v1/[a]/x/[b_c]'],
    };

    test('are all declared routes, and never a requested path', () => {
      const values = readPatchValues(report({ paid: TEMPLATES.map((path) => paidRoute(path)) }));
      for (const id of GUARDING_CHECKS)
        expect(readAllCode(id, stack, values)).not.toContain('/example');
      for (const path of routesByStack[stack] ?? [])
        expect(readAllCode('P2', stack, values)).toContain(path);
    });

    test('are not written as code if no document declares them, and a comment names the requested paths', () => {
      const values = readPatchValues(report({ path: null }));
      for (const id of ['P2', 'P5', 'S5']) {
        expect(readAllCode(id, stack, values)).toContain(
          '<route> behind /weather/example: define ROUTE',
        );
        expect(readAllCode(id, stack, values)).toMatch(/ROUTE\b/);
        expect(readAllCode(id, stack, choosePlaceholders(id))).toMatch(/ROUTE\b/);
      }
    });

    test('include the paths of sign-ins, which still need a guard', () => {
      const { routes, ...rest } = report();
      if (!routes) throw new Error('no routes');
      const signIn = [{ method: 'GET', template: '/profile' }];
      const values = readPatchValues({ ...rest, routes: { ...routes, signIn } });
      if (stack !== 'next') expect(readAllCode('P2', stack, values)).toContain('/profile');
    });

    test('come with the command that installs the packages', () => {
      const values = readPatchValues(report());
      expect(readAllCode('P2', stack, values)).toMatch(/(?:npm install|pip install|go get) \S+/);
    });
  },
);

describe('an operation that nobody knows to be paid or free', () => {
  const { routes, ...rest } = report();
  const unknown = [
    { method: 'POST', template: '/deal/open' },
    { method: 'GET', template: '/users/{id}' },
  ];
  if (!routes) throw new Error('no routes');
  const values = readPatchValues({ ...rest, routes: { ...routes, unknown } });

  test.each(STACKS)('is asked about and never written as code for %s', (stack) => {
    for (const id of ['S1', 'S2', 'S3', 'S4']) {
      expect(writePatches(id, stack, values, 'unsaid')?.lead).toContain(
        'Are these paid or free: POST /deal/open, GET /users/{id}?',
      );
      expect(readAllCode(id, stack, values)).not.toMatch(/deal.open|users/);
    }
  });

  test('is not asked about by patches of other documents', () => {
    expect(writePatches('S6', 'express', values, 'absent')?.lead).not.toContain('paid or free');
  });

  test('is one of at most five that the question names', () => {
    const many = Array.from({ length: 7 }, (_, at) => ({ method: 'GET', template: `/r${at}` }));
    const lead = writePatches(
      'S3',
      'express',
      readPatchValues({ ...rest, routes: { ...routes, unknown: many } }),
      'unsaid',
    )?.lead;
    expect(lead).toContain('GET /r4 and 2 more?');
    expect(lead).not.toContain('/r5');
  });
});

test('patches do not serve a document for free at a path that is sold', () => {
  const values = readPatchValues(report({ path: '/' }));
  for (const stack of STACKS) {
    for (const { patch } of writePatches('S9', stack, values)?.patches ?? []) {
      expect(patch).toEqual({
        whyNot: 'GET / is a paid route: move that route to another path first',
      });
    }
  }
});

test('the patch of S6 writes the member x402Version into the manifest', () => {
  const code = readAllCode('S6', 'nginx', readPatchValues(report()));
  expect(code).toContain('"x402Version": 2');
  expect(code).not.toContain('"version"');
});

test('parts of one file make one program: one app, and no name twice', () => {
  const values = readPatchValues(report());
  for (const stack of STACKS.filter((name) => name !== 'nginx')) {
    const { patches = [] } = writePatches('P2', stack, values, 'none-found') ?? {};
    const parts = patches.flatMap(({ patch }) => ('whyNot' in patch ? [] : patch.parts));
    const names = parts.flatMap(({ file, code }) =>
      [...code.matchAll(/^(?:export )?(?:const |def |func )?(\w+)(?: = |\()/gm)].map(
        ([, name]) => `${file} ${name}`,
      ),
    );
    expect(names).toEqual([...new Set(names)]);
    if (stack === 'express')
      expect(parts.map(({ isAddition }) => isAddition)).toEqual([undefined, true]);
  }
});

test('the patch of P5 keeps the verb, so that POST stays as it is', () => {
  const values = readPatchValues(report({ paid: [paidRoute('/weather', { method: null })] }));
  for (const stack of ['express', 'hono', 'fastapi', 'flask', 'go'] as const) {
    const code = readAllCode('P5', stack, values);
    for (const method of ['GET', 'HEAD']) expect(code).toMatch(`${method} /weather`);
    expect(code).not.toMatch(/['"]\/weather['"]:/);
  }
});

test.each([
  ['P2', 'rate-limited', 'express', 'response.statusCode !== 402'],
  ['P2', 'rate-limited', 'nginx', '"" "";'],
  ['S1', 'local-server', 'express', 'request.protocol'],
  ['S1', 'local-server', 'go', 'func ownServers(r *http.Request)'],
  ['S5', 'bad-schema', 'hono', 'inputSchema: {'],
  ['S6', 'odd-address', 'fastapi', '"resource": "https://api.example.com/weather"'],
  ['S6', 'no-address', 'next', '"resource": "https://api.example.com/summaries"'],
] as const)('%s, %s for %s has code of its own', (id, outcome, stack, text) => {
  const { patches = [] } = writePatches(id, stack, readPatchValues(report()), outcome) ?? {};
  expect(patches.map(({ patch }) => readCode(patch)).join('\n')).toContain(text);
});

test('a scanned path that nothing declares is in both documents of P2', () => {
  const { routes: _, ...rest } = report();
  const named = { method: 'GET', path: '/reports/today?day=1' };
  const code = readAllCode('P2', 'nginx', readPatchValues({ ...rest, named }));
  expect(code).toContain('"/reports/today": {');
  expect(code).toContain('https://api.example.com/reports/today"');
});

test('a named path that asks for a payment is declared under its own name, and a guard still asks for the others', () => {
  const { routes, ...rest } = report({ paid: [paidRoute(null)] });
  if (!routes) throw new Error('no routes');
  const named = { method: 'GET', path: '/weather/example' };
  const values = readPatchValues({ ...rest, named, routes: { ...routes, isComplete: false } });
  for (const stack of ['express', 'fastapi', 'nginx'] as const) {
    const { patches = [] } = writePatches('P2', stack, values, 'none-found') ?? {};
    const code = patches.map(({ patch }) => readCode(patch)).join('\n');
    expect(code).toContain('/weather/example');
    expect(code).not.toMatch(/ROUTE|<route>/);
  }
  const guard = writePatches('P5', 'express', values)?.patches[0]?.patch;
  expect(readCode(guard)).toContain("'HEAD /weather/example'");
  expect(readCode(guard)).toContain('[ROUTE]');
});

test('a guard of a seller that was scanned locally leaves its address to the SDK, unless a proxy hides it', () => {
  const values = readPatchValues(report(), null);
  for (const stack of STACKS.filter((name) => name !== 'nginx')) {
    const readOutcome = (id: string, outcome: string) =>
      readCode(writePatches(id, stack, values, outcome)?.patches[0]?.patch);
    expect(readOutcome('P3', 'timeout')).not.toContain('<https://your-domain>');
    expect(readOutcome('P3', 'http-url')).toContain('<https://your-domain>/weather');
  }
});
