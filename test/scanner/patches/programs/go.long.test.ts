/**
 * A seller on Go's net/http is patched as `explain` prints it, restarted, scanned and paid. Its guard is its own:
 * patches that write the guard need the official module, which the public module proxy does not serve.
 */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { PatchPart } from '../../../../src/scanner/patches/patch.ts';
import { findExecutable } from '../../../fixtures/find-executable.ts';
import { needs } from '../../../fixtures/needs.ts';
import {
  Bench,
  editFile,
  expectFound,
  type Fault,
  type Files,
  findScript,
  findUrl,
  listParts,
  misnameEntry,
  nameRequest,
  type Runner,
  tryFaults,
  WEATHER,
} from './program.ts';

const TIMEOUT_MS = 240_000;
const MAIN = 'main.go';
const MANIFEST = 'manifest.go';
const runner: Runner = {
  stack: 'go',
  toCommand: ({ folder, port }) =>
    `cd "${folder}" && GOTOOLCHAIN=local GOFLAGS=-mod=mod go build -o seller . && PORT=${port} exec ./seller`,
};

const SELLER = await readFile(findScript('seller.go'), 'utf8');
const STOCK: Files = {
  'go.mod': 'module seller\n\ngo 1.22\n',
  'seller.go': SELLER,
  [MAIN]: `package main

import (
	"net/http"
	"os"
)

func main() {
	mux := http.NewServeMux()
	mux.Handle("/", newSeller())
	_ = http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), mux)
}
`,
};

/** "Call serveOpenapi with a mux outside the payment middleware." */
function addParts(files: Files, parts: readonly PatchPart[]): Files {
  let program = files;
  for (const { file, code } of parts) {
    const call = /^func (serve\w+)\(mux/m.exec(code)?.[1];
    if (call !== undefined && program[file] === undefined) {
      program = editFile(program, MAIN, /(?<=NewServeMux\(\)\n)/, `\t${call}(mux)\n`);
    }
    program = { ...program, [file]: code };
  }
  return program;
}

const writeSound = (url: string): Files =>
  addParts(STOCK, listParts('P2', 'go', nameRequest(url, WEATHER), 'none-found'));
const LLMS = `package main

import "net/http"

func serveLinks(mux *http.ServeMux) {
	mux.HandleFunc("GET /llms.txt", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("# Weather\\n\\n> Weather.\\n\\n## Documents\\n\\n- [API](" + "/api.json" + ")\\n"))
	})
}
`;

const FAULTS: readonly Fault[] = [
  {
    finds: ['P4', 'cacheable'],
    damage: (sound) => sound,
    // "noStore wraps the payment middleware"
    mend: (faulty, parts) =>
      addParts(editFile(faulty, MAIN, 'newSeller()', 'noStore(newSeller())'), parts),
  },
  {
    finds: ['S6', 'odd-address'],
    damage: misnameEntry(MANIFEST),
    mend: addParts,
  },
  {
    finds: ['S11', 'some-dead'],
    damage: (sound) => addParts(sound, [{ file: 'llms_text.go', code: LLMS }]),
    mend: (faulty, parts) =>
      addParts(editFile(faulty, 'llms_text.go', '"/api.json"', 'link("/openapi.json")'), parts),
  },
  ...(['S8', 'S9', 'S12'] as const).map((id): Fault => {
    const outcomes = { S8: 'absent', S9: 'error', S12: 'no-icon' };
    return { finds: [id, outcomes[id]], damage: (sound) => sound, mend: addParts };
  }),
];

const go = findExecutable('go');
let bench: Bench;
beforeAll(async () => {
  bench = await Bench.open();
  // A machine that never built for HTTP compiles for a minute, longer than a seller may take to listen.
  if (go !== null) await promisify(execFile)(go, ['build', 'net/http']);
}, TIMEOUT_MS);
afterAll(() => bench[Symbol.asyncDispose]());

describe('go', needs(go === null ? 'no go on the PATH' : null), () => {
  test('is found after the patch of P2', { timeout: TIMEOUT_MS }, () =>
    expectFound(bench, runner, writeSound, ['P3', 'S1', 'S2', 'S3', 'S4', 'S6', 'P6']),
  );

  test(
    'the patches of P4, S6, S8, S9, S11 and S12 mend one program, and nothing else',
    {
      timeout: TIMEOUT_MS,
    },
    () => tryFaults(bench, runner, writeSound, FAULTS),
  );

  test('the patch of a local server names the address that was called', {
    timeout: TIMEOUT_MS,
  }, async () => {
    const url = await findUrl(runner);
    const parts = listParts('S1', 'go', nameRequest(url, WEATHER), 'local-server');
    const handler = `package main

import "net/http"

func serveServers(mux *http.ServeMux) {
	mux.HandleFunc("GET /openapi.json", func(w http.ResponseWriter, r *http.Request) {
		writeJSON(w, object{"openapi": "3.1.0", "servers": ownServers(r)})
	})
}
`;
    const program = addParts(STOCK, [...parts, { file: 'api.go', code: handler }]);
    const document = await bench.read(runner, program, `${url}/openapi.json`);
    expect(document).toMatchObject({ servers: [{ url }] });
  });
});
