/**
 * Records sellers anew: starts each, scans it by the newest catalog, and writes what it answered to
 * recorded/<name>.json. Run `node test/origins/record.ts`, or with names for some of them; then
 * UPDATE_GOLDEN=1 for test/golden.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { argv, stderr, stdout } from 'node:process';
import type { Standing } from '../../src/probe/standing.ts';
import { BEHAVIOUR_ROWS } from '../scan/crafted/behaviour-rows.ts';
import { CHALLENGE_ROWS } from '../scan/crafted/challenge-rows.ts';
import { DOCUMENT_ROWS } from '../scan/crafted/document-rows.ts';
import { OFFER_ROWS } from '../scan/crafted/offer-rows.ts';
import { OPENAPI_ROWS } from '../scan/crafted/openapi-rows.ts';
import { SITE_ROWS } from '../scan/crafted/site-rows.ts';
import { type EngineUnderTest, NEWER, startEngine } from '../scan/engine-under-test.ts';
import { startExpressV1Seller } from '../sellers/express-v1-seller.ts';
import { startExpressV2Seller } from '../sellers/express-v2-seller.ts';
import { startFastApiSeller } from '../sellers/fastapi-seller.ts';
import type { Seller } from '../sellers/seller.ts';
import { selfSigned } from '../tls/test-ca.ts';
import { startCraftedSeller } from './crafted-seller.ts';
import { BROKEN } from './hostile-behaviours.ts';
import { startHostileOrigin } from './hostile-origin.ts';
import { FORGOTTEN, KNOWN, UNKNOWN } from './index-answers.ts';
import { steadyRecording } from './steady-recording.ts';

type Recorded = {
  readonly start: () => Promise<Seller | { readonly unavailable: string }>;
  readonly standing?: Standing;
};

const FOLDER = new URL('./recorded/', import.meta.url);
const ALL_RIGHT = { withOpenApi: true, withDocuments: true, withBazaar: true, guardsHead: true };

/** A row of the crafted sellers, by its name: renaming one is an error here. */
function crafted(name: string): Recorded['start'] {
  const rows = [
    CHALLENGE_ROWS,
    OFFER_ROWS,
    BEHAVIOUR_ROWS,
    OPENAPI_ROWS,
    DOCUMENT_ROWS,
    SITE_ROWS,
  ].flat();
  const row = rows.find((one) => one.name === name);
  if (row === undefined) throw new Error(`No crafted seller is called "${name}".`);
  return () => startCraftedSeller({ answers: row.answers });
}

const RECORDED: Readonly<Record<string, Recorded>> = {
  'express-v2-all-right': { start: () => startExpressV2Seller(ALL_RIGHT), standing: KNOWN },
  'express-v2-as-it-comes': { start: () => startExpressV2Seller({ withOpenApi: true }) },
  'express-v2-undocumented': { start: () => startExpressV2Seller(), standing: UNKNOWN },
  'express-v1': { start: () => startExpressV1Seller({ withOpenApi: true }), standing: FORGOTTEN },
  fastapi: { start: startFastApiSeller },
  newcomer: { start: () => startCraftedSeller(), standing: UNKNOWN },
  'challenge-in-the-body': { start: crafted('a version 2 challenge in the body alone') },
  'wrong-domain': { start: crafted('the wrong EIP-712 name') },
  'dynamic-price': { start: crafted('a price that leaves its declared range') },
  'validates-first': { start: crafted('validation before payment on POST') },
  'facilitator-away': { start: crafted('500 on every paid route') },
  'paid-root': { start: crafted('a root that is for sale itself') },
  'catch-all-page': { start: crafted('a page for every path that repeats the path') },
  'bodies-that-hang': { start: () => startHostileOrigin(BROKEN['hangs after the headers']) },
  'self-signed': {
    start: async () => startCraftedSeller({ tls: await selfSigned(['127.0.0.1']) }),
  },
};

async function record(name: string, { start, standing }: Recorded, engine: EngineUnderTest) {
  const seller = await start();
  if ('unavailable' in seller) {
    stderr.write(`${name}: not recorded (${seller.unavailable})\n`);
    return;
  }
  try {
    const { observations, report } = await engine.scan(seller.url, NEWER, {
      limits: { requestTimeoutMs: 5_000 },
      ...(standing ? { standing } : {}),
    });
    const text = `${JSON.stringify(steadyRecording(observations), null, 1)}\n`;
    await writeFile(new URL(`${name}.json`, FOLDER), text);
    stdout.write(`${name}: ${report.grade} ${report.score}, ${text.length} characters\n`);
  } finally {
    await seller.stop();
  }
}

const wanted = argv.length > 2 ? argv.slice(2) : Object.keys(RECORDED);
await mkdir(FOLDER, { recursive: true });
const engine = await startEngine();
try {
  for (const name of wanted) {
    const recorded = RECORDED[name];
    if (recorded === undefined) {
      throw new Error(`"${name}": there are ${Object.keys(RECORDED).join(', ')}`);
    }
    await record(name, recorded, engine);
  }
} finally {
  await engine.stop();
}
