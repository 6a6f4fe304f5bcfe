/** Stock sellers on Express and Hono are patched as `explain` prints it, restarted, scanned and paid. */
import {
  addParts,
  insert,
  listDocuments,
  MAINS,
  type OneFileStack,
  testStacks,
} from './one-file.ts';
import { editFile, type Fault, type Files, misnameEntry, replace, SUMMARIES } from './program.ts';

const MAIN = MAINS.express;
const OTHER_PRICE =
  "price: { amount: '10000', asset: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913', extra: {} }";
const CACHED = 'public, max-age=60';

const HONO_LIMITER = `let count = 0;
app.use('/weather', async (c, next) => {
  count += 1;
  return count > 1 ? c.text('slow down', 429) : next();
});
`;

const edit = (files: Files, from: string | RegExp, to: string): Files =>
  editFile(files, MAIN, from, to);
/** Adds code before the payment middleware, and at the end. */
const append = (files: Files, code: string, last = ''): Files => {
  return { ...files, [MAIN]: `${insert(files[MAIN] ?? '', code)}${last}` };
};

/** Puts code before every other middleware. */
const addFirst: Fault['mend'] = (files, parts) =>
  parts.reduce((program, { code }) => {
    const added = code.replace(/^(?:import|export const app) .*\n/gm, '');
    return edit(program, /(?<=^export const app = .*\n)/m, added);
  }, files);

/** The code of the paid routes is a whole program. The documents of the seller go into it. */
const rebuild =
  (stack: OneFileStack): Fault['mend'] =>
  (_faulty, parts, url) =>
    addParts(addParts({}, parts), listDocuments(stack, url));

const toGuardFaults = (stack: 'express' | 'hono'): Readonly<Record<string, Fault>> => {
  return {
    'a token without its domain': {
      finds: ['P3', 'no-domain'],
      damage: (sound) => edit(sound, "price: '$0.01'", OTHER_PRICE),
      mend: rebuild(stack),
    },
    'the address of another host': {
      finds: ['P3', 'other-host'],
      damage: (sound) => edit(sound, /resource: '.*'/, "resource: 'https://shop.example/weather'"),
      mend: rebuild(stack),
    },
    'no description': {
      finds: ['P8', 'missing'],
      damage: (sound) => edit(sound, /^ {2}description: .*\n/m, ''),
      mend: rebuild(stack),
    },
    'two prices': {
      finds: ['P6', 'mismatch'],
      damage: (sound) => edit(sound, '"amount": "0.01"', '"amount": "0.02"'),
      mend: (faulty, parts) => {
        const imports = "import { accepts, paymentInfo } from './prices.mjs';\n";
        const main = replace(faulty[MAIN], /accepts: \{.*\}/, "accepts: accepts('GET /weather')");
        const document = /"x-payment-info": \{[\s\S]*?\n {10}\}/;
        const declared = replace(main, document, "'x-payment-info': paymentInfo('GET /weather')");
        return addParts({ ...faulty, [MAIN]: imports + declared }, parts);
      },
    },
    'no example of a body': {
      finds: ['S5', 'absent'],
      request: SUMMARIES,
      damage: (sound) => sound,
      mend: (_faulty, parts, url) =>
        addParts(addParts({}, parts), listDocuments(stack, url, SUMMARIES)),
    },
  };
};

const toFaults = (stack: 'express' | 'hono'): readonly Fault[] => [
  {
    finds: ['S6', 'odd-address'],
    damage: misnameEntry(MAIN),
    mend: (faulty, parts) => {
      const manifest =
        /^\/\/ Put this before[^\n]*\napp\.get\('\/\.well-known\/x402'[\s\S]*?^(?:\}\)|\));\n/m;
      return addParts(edit(faulty, manifest, ''), parts);
    },
  },
  {
    finds: ['P7', 'bad-checksum'],
    damage: (sound) => edit(sound, '0x209693Bc', '0x209693bc'),
    mend: (faulty, parts) => {
      const imports = "import { payTo } from './recipient.mjs';\n";
      const main = replace(faulty[MAIN], /payTo: '.*?'/, 'payTo');
      return addParts({ ...faulty, [MAIN]: imports + main }, parts);
    },
  },
  {
    finds: ['S11', 'some-dead'],
    damage: (sound) =>
      append(
        sound,
        `app.get('/llms.txt', (${stack === 'express' ? '_request, response' : 'c'}) => ${
          stack === 'express' ? 'response.send' : 'c.body'
        }('# Weather\\n\\n> Weather.\\n\\n## Documents\\n\\n- [API](/api.json)\\n'));\n`,
      ),
    mend: (faulty, parts) => {
      const imports = "import { link } from './links.mjs';\n";
      const main = replace(faulty[MAIN], '(/api.json)', "(' + link('/openapi.json') + ')");
      return addParts({ ...faulty, [MAIN]: imports + main }, parts);
    },
  },
  CACHE_FAULTS[stack],
];

const CACHE_FAULTS: Readonly<Record<'express' | 'hono', Fault>> = {
  express: {
    finds: ['P4', 'cacheable'],
    damage: (sound) =>
      append(
        sound,
        `app.use((_request, response, next) => {
  const { writeHead } = response;
  response.writeHead = (...rest) => {
    response.setHeader('Cache-Control', '${CACHED}');
    return writeHead.apply(response, rest);
  };
  next();
});
`,
        `app.get('/weather', (_request, response) => response.set('Cache-Control', '${CACHED}').json({}));\n`,
      ),
    mend: addFirst,
  },
  hono: {
    finds: ['P4', 'cacheable'],
    damage: (sound) =>
      append(
        sound,
        `app.use(async (c, next) => {
  await next();
  c.header('Cache-Control', '${CACHED}');
});
`,
        `app.get('/weather', (c) => c.json({}, 200, { 'Cache-Control': '${CACHED}' }));\n`,
      ),
    mend: addFirst,
  },
};

const LIMIT_FAULTS: Readonly<Record<'express' | 'hono', Fault>> = {
  express: {
    finds: ['P2', 'rate-limited'],
    damage: (sound) =>
      append(
        edit(sound, /^/, "import { rateLimit } from 'express-rate-limit';\n"),
        "app.use('/weather', rateLimit({ windowMs: 60_000, limit: 1 }));\n",
      ),
    mend: (faulty, parts) =>
      addParts(
        edit(
          edit(faulty, /rateLimit\(\{ windowMs: 60_000, limit: 1 \}\)/, 'limiter'),
          "import { rateLimit } from 'express-rate-limit'",
          "import { limiter } from './limiter.mjs'",
        ),
        parts,
      ),
  },
  hono: {
    finds: ['P2', 'rate-limited'],
    damage: (sound) => append(sound, HONO_LIMITER),
    // "app.use your limiter after paymentMiddleware"
    mend: (faulty) => {
      const { [MAIN]: main = '' } = edit(faulty, HONO_LIMITER, '');
      return { ...faulty, [MAIN]: `${main}\n${HONO_LIMITER}` };
    },
  },
};

await testStacks(['express', 'hono'], {
  timeoutMs: 120_000,
  toGuardFaults,
  toFaults,
  limitFaults: LIMIT_FAULTS,
  addOwnServer: (stack, sound, parts) => {
    const isExpress = stack === 'express';
    const served = isExpress ? edit(sound, /(?<='\/openapi\.json', \()_request/, 'request') : sound;
    const servers = `"servers": ownServers(${isExpress ? 'request' : 'c'})`;
    const named = edit(served, /"servers": \[.*\]/, servers);
    return addParts(edit(named, /^/, "import { ownServers } from './own-server.mjs';\n"), parts);
  },
});
