/** Stock sellers on FastAPI and Flask are patched as `explain` prints it, restarted, scanned and paid. */
import { addParts, listDocuments, MAINS, testStacks } from './one-file.ts';
import { editFile, type Fault, type Files, misnameEntry, SUMMARIES } from './program.ts';
import { CACHERS, FASTAPI_LIMITER, FLASK_LIMITER, WSGI_LIMITER } from './python-middleware.ts';

type PythonStack = 'fastapi' | 'flask';
const OTHER_PRICE =
  '"price": {"amount": "10000", "asset": "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913", "extra": {"name": "USDC", "version": "1"}}';

const edit = (stack: PythonStack, files: Files, from: string | RegExp, to: string): Files =>
  editFile(files, MAINS[stack], from, to);
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

const toFaults = (stack: PythonStack): readonly Fault[] => {
  const change = toChange(stack);
  return [
    {
      finds: ['S6', 'odd-address'],
      damage: misnameEntry(MAINS[stack]),
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

await testStacks(['fastapi', 'flask'], {
  timeoutMs: 180_000,
  toGuardFaults,
  toFaults,
  limitFaults: LIMITER_FAULTS,
  addOwnServer: (stack, sound, parts) => {
    // "leave servers out of FastAPI(…)"
    if (stack === 'fastapi') return edit(stack, sound, /^app\.servers = .*\n/m, '');
    const servers = 'jsonify({**OPENAPI, "servers": own_servers()})';
    const named = edit(stack, sound, 'jsonify(OPENAPI)', servers);
    return edit(stack, addParts(named, parts), /^/, 'from own_server import own_servers\n');
  },
});
