/** nginx in front of a stock seller is configured as `explain` prints it, restarted, scanned and paid. */
import { afterAll, beforeAll, describe, test } from 'vitest';
import type { PatchPart } from '../../../../src/scanner/patches/patch.ts';
import { findExecutable } from '../../../fixtures/find-executable.ts';
import { needs } from '../../../fixtures/needs.ts';
import { freePort } from '../../../fixtures/service/free-port.ts';
import { DOCUMENT_FAULTS, findRunner, insert, writeStock } from './one-file.ts';
import {
  Bench,
  editFile,
  expectFound,
  type Fault,
  type Files,
  listParts,
  misnameEntry,
  nameRequest,
  type Runner,
  replace,
  tryFaults,
  WEATHER,
} from './program.ts';

const TIMEOUT_MS = 120_000;
const CONF = 'server.conf';
const PAYMENTS = 'payments.conf';
const HOST_LINES = 'proxy_set_header Host $host;\n    proxy_set_header X-Forwarded-Proto $scheme;';
const LOCATION = `location / {\n    proxy_pass "http://<upstream>";\n    ${HOST_LINES}\n}\n`;

const express = await findRunner('express');
const lack = findExecutable('nginx') === null ? 'no nginx on the PATH' : null;
const missing = 'unavailable' in express ? express.unavailable : lack;

/** Another user could not read the folder of the program. */
const USER_LINE = 'user root;\n';

/** The configuration around that of the seller. Its folders lie beside it. */
const MAIN_CONF = `${process.getuid?.() === 0 ? USER_LINE : ''}daemon off;
pid nginx.pid;
error_log stderr warn;
events {}
http {
    access_log off;
    client_body_temp_path temp;
    proxy_temp_path temp;
    fastcgi_temp_path temp;
    uwsgi_temp_path temp;
    scgi_temp_path temp;
    include ${PAYMENTS};
    upstream app { server 127.0.0.1:<upstream port>; }
    server {
        listen 127.0.0.1:<port>;
        include ${CONF};
    }
}
`;

/** Behind nginx the seller hears "app", if nginx does not name the host that was called. */
const runner: Runner = {
  ...express,
  stack: 'nginx',
  toFileName: (path) => path.replace(/^\//, '').replace(/\.ts$/, '.mjs'),
  toCommand: async ({ folder, port }) => {
    const upstreamPort = await freePort();
    const seller =
      'unavailable' in express ? '' : await express.toCommand({ folder, port: upstreamPort });
    const fill = `sed -i.orig -e "s/<port>/${port}/" -e "s/<upstream port>/${upstreamPort}/" -e "s/<upstream>/app/"`;
    const front = `nginx -p "${folder}" -c nginx.conf`;
    return `cd "${folder}" && mkdir temp && ${fill} *.conf && export FRONT='${front}' && ${seller}`;
  },
};

const append = (files: Files, file: string, code: string): Files => {
  return { ...files, [file]: `${files[file]}${code}` };
};
/** A location for "/" replaces the seller's; other lines go beside it. Documents lie in the folder of the program. */
function addParts(files: Files, parts: readonly PatchPart[]): Files {
  const program: Record<string, string> = { ...files };
  for (const { file, code } of parts) {
    if (file !== CONF) program[file] = code;
    else if (code.includes('location / {')) {
      program[CONF] = replace(program[CONF], LOCATION_PATTERN, code);
    } else program[CONF] += code.replace(/(?<= (?:alias|root) )\/srv/, 'srv');
  }
  return program;
}
const LOCATION_PATTERN = /^location \/ \{[\s\S]*?^\}\n/m;

/** The seller writes its own address as the request names it. */
const writeSeller = (url: string): Files => {
  const { 'server.ts': code } = writeStock('express', url);
  return {
    'server.ts': replace(code, /^ {2}resource: .*\n/m, ''),
    'nginx.conf': MAIN_CONF,
    [PAYMENTS]: '',
    [CONF]: LOCATION,
  };
};
const writeSound = (url: string): Files =>
  addParts(writeSeller(url), listParts('P2', 'nginx', nameRequest(url, WEATHER), 'none-found'));

const FAULTS: readonly Fault[] = [
  {
    finds: ['P4', 'cacheable'],
    damage: (sound) => {
      const { 'server.ts': code = '' } = sound;
      const cacher = `app.use((_request, response, next) => {
  const { writeHead } = response;
  response.writeHead = (...rest) => {
    response.setHeader('Cache-Control', 'public, max-age=60');
    return writeHead.apply(response, rest);
  };
  next();
});
`;
      return { ...sound, 'server.ts': insert(code, cacher) };
    },
    mend: addParts,
  },
  {
    finds: ['S6', 'odd-address'],
    damage: misnameEntry('/srv/x402/.well-known/x402'),
    // The configuration names the file already.
    mend: (faulty, parts) =>
      addParts(
        faulty,
        parts.filter(({ file }) => file !== CONF),
      ),
  },
  ...Object.values(DOCUMENT_FAULTS).map((fault) => ({ ...fault, mend: addParts })),
];
const HEAD_FAULT: Fault = {
  finds: ['P5', 'head-served'],
  damage: (sound) => sound,
  mend: addParts,
};
const HOST_FAULT: Fault = {
  finds: ['P3', 'other-host'],
  damage: (sound) => editFile(sound, CONF, HOST_LINES, ''),
  mend: addParts,
};
const LIMIT_FAULT: Fault = {
  finds: ['P2', 'rate-limited'],
  damage: (sound) =>
    append(
      append(
        sound,
        PAYMENTS,
        'limit_req_zone $binary_remote_addr zone=all:1m rate=1r/m;\nlimit_req_status 429;\n',
      ),
      CONF,
      replace(LOCATION, 'location / {', 'location /weather {\n    limit_req zone=all;'),
    ),
  // "In http { }", and "in the location of each paid route"
  mend: (faulty, parts) =>
    addParts(
      editFile(faulty, CONF, 'limit_req zone=all;', 'limit_req zone=payments burst=20 nodelay;'),
      parts,
    ),
};

let bench: Bench;
beforeAll(async () => {
  bench = await Bench.open();
});
afterAll(() => bench[Symbol.asyncDispose]());

describe('nginx', needs(missing), () => {
  test('serves the documents of P2', { timeout: TIMEOUT_MS }, () =>
    expectFound(bench, runner, writeSound, ['P3', 'S1', 'S2', 'S3', 'S4', 'S6', 'P6']),
  );

  test.each([
    ['P4, S6, S7, S8, S9 and S12', FAULTS, undefined],
    ['P5', [HEAD_FAULT], undefined],
    ['P3', [HOST_FAULT], undefined],
    ['the limiter', [LIMIT_FAULT], ['/weather']],
  ] as const)(
    'the patches of %s mend the configuration, and nothing else',
    { timeout: TIMEOUT_MS },
    (_name, faults, warmUp) =>
      tryFaults(bench, { ...runner, ...(warmUp && { warmUp }) }, writeSound, faults),
  );
});
