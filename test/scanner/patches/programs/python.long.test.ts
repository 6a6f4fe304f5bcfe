/** Stock sellers on FastAPI and Flask are patched as `explain` prints it, restarted, scanned and paid. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { needs } from '../../../fixtures/needs.ts';
import {
  addParts,
  DOCUMENT_FAULTS,
  findRunner,
  listDocuments,
  MAINS,
  tryDocumentsAndHead,
  writeSound,
} from './one-file.ts';
import {
  Bench,
  type Fault,
  type Files,
  findUrl,
  listParts,
  nameRequest,
  replace,
  SUMMARIES,
  tryFaults,
  WEATHER,
} from './program.ts';
import { CACHERS, FASTAPI_LIMITER, FLASK_LIMITER, WSGI_LIMITER } from './python-middleware.ts';

type PythonStack = 'fastapi' | 'flask';
const TIMEOUT_MS = 180_000;
const OTHER_PRICE =
  '"price": {"amount": "10000", "asset": "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913", "extra": {"name": "USDC", "version": "1"}}';

const edit = (stack: PythonStack, files: Files, from: string | RegExp, to: string): Files => {
  const main = MAINS[stack];
  return { ...files, [main]: replace(files[main], from, to) };
};
const append = (stack: PythonStack, files: Files, code: string): Files => {
  const main = MAINS[stack];
  return { ...files, [main]: `${files[main]}\n${code}` };
};

/** "app.wsgi_app = …", as the comment says. */
const wrapApp = (files: Files): Files =>
  append('flask', files, 'app.wsgi_app = NoStore(app.wsgi_app)\n');
const addNoStore =
  (stack: PythonStack): Fault['mend'] =>
  (faulty, parts) => {
    const added = addParts(faulty, parts);
    return stack === 'flask' ? wrapApp(added) : added;
  };

const toChange = (stack: PythonStack) => (from: string | RegExp, to: string) => (files: Files) =>
  edit(stack, files, from, to);

/** Faults in one place, the guard: each has a program of its own. */
const toGuardFaults = (stack: PythonStack): Readonly<Record<string, Fault>> => {
  const change = toChange(stack);
  const rebuild: Fault['mend'] = (_faulty, parts, url) =>
    addParts(addParts({}, parts), listDocuments(stack, url));
  return {
    'the domain of another token': {
      finds: ['P3', 'wrong-domain'],
      damage: change('"price": "$0.01"', OTHER_PRICE),
      mend: rebuild,
    },
    'the address of another host': {
      finds: ['P3', 'other-host'],
      damage: change(/"resource": ".*"/, '"resource": "https://shop.example/weather"'),
      mend: rebuild,
    },
    'two prices': {
      finds: ['P6', 'mismatch'],
      damage: change('"amount": "0.01"', '"amount": "0.02"'),
      mend: (faulty, parts) => {
        const accepts = change(
          /"accepts": \{[\s\S]*?\n {4}\},/,
          '"accepts": accepts("GET /weather"),',
        )(faulty);
        const info = /"x-payment-info": \{[\s\S]*?"protocols": \[\{ "x402": \{\} \}\]\s*\}/;
        const declared = edit(
          stack,
          accepts,
          info,
          '"x-payment-info": payment_info("GET /weather")',
        );
        const imported = edit(stack, declared, /^/, 'from prices import accepts, payment_info\n');
        return addParts(imported, parts);
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

/** Faults in places of their own: one program has them all. */
const toFaults = (stack: PythonStack): readonly Fault[] => {
  const change = toChange(stack);
  return [
    {
      finds: ['S6', 'odd-address'],
      damage: change(/"resources": \[.*\]/, '"resources": [{"path": "/weather", "method": "GET"}]'),
      mend: (faulty, parts) => {
        const handler = /^@app\.get\("\/\.well-known\/x402".*\ndef .*\n.*\n/m;
        return addParts(edit(stack, faulty, handler, ''), parts);
      },
    },
    {
      finds: ['P7', 'bad-checksum'],
      damage: change('0x209693Bc', '0x209693bc'),
      mend: (faulty, parts) => {
        const imported = edit(stack, faulty, /^/, 'from recipient import PAY_TO\n');
        return addParts(edit(stack, imported, /"payTo": ".*"/, '"payTo": PAY_TO'), parts);
      },
    },
    {
      finds: ['S11', 'some-dead'],
      damage: (files) =>
        append(
          stack,
          files,
          `${
            stack === 'fastapi'
              ? '\nfrom fastapi.responses import Response\n\n@app.get("/llms.txt", include_in_schema=False)'
              : '\nfrom flask import Response\n\n@app.get("/llms.txt")'
          }
def llms():
    return Response("# Weather\\n\\n> Weather.\\n\\n## Documents\\n\\n- [API](/api.json)\\n")
`,
        ),
      mend: (faulty, parts) => {
        const imported = edit(stack, faulty, /^/, 'from links import link\n');
        return addParts(
          edit(stack, imported, '(/api.json)', '(" + link("/openapi.json") + ")'),
          parts,
        );
      },
    },
    {
      finds: ['P4', 'cacheable'],
      damage: (files) => append(stack, files, CACHERS[stack]),
      mend: addNoStore(stack),
    },
  ];
};

/** What the sentence about limiters says. */
const LIMITER_FAULTS: Readonly<Record<PythonStack, Fault>> = {
  fastapi: {
    finds: ['P2', 'rate-limited'],
    damage: (files) => append('fastapi', files, FASTAPI_LIMITER),
    // "add the payment middleware after SlowAPIMiddleware"
    mend: (faulty) => {
      const unlimited = edit('fastapi', faulty, FASTAPI_LIMITER, '');
      return edit('fastapi', unlimited, /(?<=^app = FastAPI\(\)\n)/m, FASTAPI_LIMITER);
    },
  },
  flask: {
    finds: ['P2', 'rate-limited'],
    damage: (files) => append('flask', files, WSGI_LIMITER),
    // "limit inside Flask"
    mend: (faulty) => edit('flask', faulty, WSGI_LIMITER, FLASK_LIMITER),
  },
};

const { llms, agentCard, root, icon } = DOCUMENT_FAULTS;
let bench: Bench;
beforeAll(async () => {
  bench = await Bench.open();
});
afterAll(() => bench[Symbol.asyncDispose]());

for (const stack of ['fastapi', 'flask'] as const) {
  const runner = await findRunner(stack);
  describe(stack, needs('unavailable' in runner ? runner.unavailable : null), () => {
    if ('unavailable' in runner) return;

    test(
      'is found, guards HEAD and sells after the patches of P2 and P5',
      { timeout: TIMEOUT_MS },
      () => tryDocumentsAndHead(bench, runner, stack),
    );

    test.each(Object.entries(toGuardFaults(stack)))(
      'the patch mends %s, and nothing else',
      { timeout: TIMEOUT_MS },
      (name, fault) => {
        const faults = name === 'two prices' ? [fault, llms] : [fault];
        return tryFaults(bench, runner, writeSound(stack, fault.request), faults);
      },
    );

    test(
      'the patches of P4, P7, S6, S8, S9, S11 and S12 mend one program, and nothing else',
      {
        timeout: TIMEOUT_MS,
      },
      () =>
        tryFaults(bench, runner, writeSound(stack), [...toFaults(stack), agentCard, root, icon]),
    );

    test(
      'the sentence about limiters mends one that counts unpaid requests',
      {
        timeout: TIMEOUT_MS,
      },
      () =>
        tryFaults(bench, { ...runner, warmUp: ['/weather'] }, writeSound(stack), [
          LIMITER_FAULTS[stack],
        ]),
    );

    test('the patch of a local server names the address that was called', {
      timeout: TIMEOUT_MS,
    }, async () => {
      const url = await findUrl(runner);
      const sound = writeSound(stack)(url);
      const parts = listParts('S1', stack, nameRequest(url, WEATHER), 'local-server');
      // "leave servers out of FastAPI(…)"
      const mended =
        stack === 'fastapi'
          ? edit(stack, sound, /^app\.servers = .*\n/m, '')
          : addParts(
              edit(
                stack,
                sound,
                'jsonify(OPENAPI)',
                'jsonify({**OPENAPI, "servers": own_servers()})',
              ),
              parts,
            );
      const imported =
        stack === 'fastapi'
          ? mended
          : edit(stack, mended, /^/, 'from own_server import own_servers\n');
      const document = await bench.read(runner, imported, `${url}/openapi.json`);
      if (stack === 'flask') expect(document).toHaveProperty('servers', [{ url }]);
      else expect(document).not.toHaveProperty('servers');
    });
  });
}
