/** `scan https://api.example.com/weather` also requests the named resource, and the text report describes it. */
import { expect, test } from 'vitest';
import { scanCommand } from '../../src/cli/scan-command.ts';
import { type PatchReport, readPatchValues } from '../../src/scanner/patches/patch-values.ts';
import { writePatches } from '../../src/scanner/patches/write-patches.ts';
import { challengeAnswer, challengeOf, offerOf } from '../fixtures/origins/crafted-challenge.ts';
import { startCraftedSeller } from '../fixtures/origins/crafted-seller.ts';
import { SUMMARY, WEATHER } from '../fixtures/sellers/seller-documents.ts';
import { runCommand } from './run-cli.ts';

const UNDECLARED_TEXT =
  'no document declares it, so agents do not find it, and this grade does not cover it.';

async function startShop() {
  const challenge = (origin: string, offer: object) =>
    challengeAnswer({ ...challengeOf(WEATHER, origin), accepts: [offer] });
  return startCraftedSeller({
    answers: {
      'GET /hidden': ({ origin }) => challenge(origin, offerOf(WEATHER)),
      'GET /hidden?city=Paris': ({ origin }) => challenge(origin, offerOf(WEATHER)),
      'GET /broken': ({ origin }) => challenge(origin, { ...offerOf(WEATHER), payTo: 'x' }),
      'GET /by-post': { status: 405 },
      'POST /by-post': ({ origin }) => challengeAnswer(challengeOf(SUMMARY, origin)),
      'GET /nowhere': { status: 404 },
      'POST /nowhere': { status: 404 },
    },
  });
}

function readPatchCode(report: PatchReport): string {
  const { patches = [] } = writePatches('P2', 'nginx', readPatchValues(report), 'none-found') ?? {};
  return patches
    .flatMap(({ patch }) => ('parts' in patch ? patch.parts : []))
    .map(({ code }) => code)
    .join('\n');
}

async function scan(...args: readonly string[]): Promise<string> {
  const run = await runCommand(scanCommand, ...args, '--allow-private', '--offline');
  expect(run.code).toBe(0);
  return run.stdout;
}

test.each([
  [
    '/hidden',
    `GET /hidden, which you named, asks for a payment that default clients can pay; ${UNDECLARED_TEXT}`,
  ],
  [
    '/hidden?city=Paris',
    `GET /hidden?city=Paris, which you named, asks for a payment that default`,
  ],
  ['/by-post', `POST /by-post, which you named, asks for a payment that default clients can pay;`],
  ['/broken', 'GET /broken, which you named, asks for a payment that no official client can pay ('],
  ['/weather', 'GET /weather, which you named, asks for a payment that default clients can pay. '],
  [
    '/summaries',
    'POST /summaries, which you named, asks for a payment that default clients can pay. ',
  ],
  ['/health', 'GET /health, which you named, answers without asking for a payment.'],
  [
    '/nowhere',
    'GET /nowhere, which you named, asks for no payment: GET /nowhere: status 404, not 402; it is not there, or takes another method.',
  ],
])('a scan that names %s says: %s', async (path, sentence) => {
  await using seller = await startShop();
  const text = await scan(seller.url + path);
  expect(text.replaceAll(/\s+/g, ' ')).toContain(sentence);
});

test('a named resource changes no grade, and is in JSON and SARIF', async () => {
  await using seller = await startShop();
  const readGrade = (text: string) => /[A-F] {2}\d+\/100/.exec(text)?.[0];
  const namedReport = await scan(`${seller.url}/hidden`);
  const requestCount = seller.requests.filter(({ path }) => path === '/hidden').length;
  expect(requestCount).toBe(1);
  const plainReport = await scan(seller.url);
  expect(readGrade(namedReport)).toBe(readGrade(plainReport));
  expect(plainReport).not.toContain('which you named');
  const [namedJson, plainJson] = await Promise.all([
    scan(`${seller.url}/hidden`, '--format', 'json'),
    scan(seller.url, '--format', 'json'),
  ]);
  const [named, plain] = [JSON.parse(namedJson), JSON.parse(plainJson)];
  expect(named.payability).toEqual(plain.payability);
  expect(named.payableBy).toEqual(plain.payableBy);
  expect(plain).not.toHaveProperty('named');
  expect(named.named).toMatchObject({
    ...{ method: 'GET', path: '/hidden', status: 402, payableBy: 'default' },
    words: expect.stringContaining('which you named'),
  });
  expect(named.routes.isComplete).toBe(false);
  const { about: description } = WEATHER;
  const [mimeType, offers] = ['application/json', [expect.objectContaining({ scheme: 'exact' })]];
  expect(named.routes.paid).toContainEqual({
    ...{ method: 'GET', path: '/hidden', template: null, description, mimeType, offers },
  });
  const code = readPatchCode(named);
  expect(code).toContain(`"summary": ${JSON.stringify(description)}`);
  expect(code).not.toContain('<what the route sells');
  const sarif = JSON.parse(await scan(`${seller.url}/hidden`, '--format', 'sarif'));
  expect(sarif.runs[0].properties.named).toMatchObject({ path: '/hidden' });
});

test('a named POST that refuses {} is named as the method that was meant', async () => {
  await using seller = await startCraftedSeller({
    answers: { 'GET /run': { status: 404 }, 'POST /run': { status: 400 } },
  });
  const report = JSON.parse(await scan(`${seller.url}/run`, '--format', 'json'));
  expect(report.named).toMatchObject({
    method: 'POST',
    path: '/run',
    status: 400,
    payableBy: null,
  });
  expect(report.named.words).toContain('POST answered 400 to {}');
});
