/** A recording made under one catalog can be judged under another. Only the recorded requests count. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { readRecording } from '../../../src/scanner/probe/read-recording.ts';
import { type Recording, toRecording } from '../../../src/scanner/probe/recording.ts';
import { type CraftedOptions, startCraftedSeller } from '../../fixtures/origins/crafted-seller.ts';
import { recordedOrigins } from '../../golden/recorded-origins.ts';
import { BEHAVIOUR_ROWS } from './crafted/behaviour-rows.ts';
import { CHALLENGE_ROWS } from './crafted/challenge-rows.ts';
import { UNSEEN_CELLS } from './crafted/row.ts';
import {
  listCells,
  NEWER_VERSION,
  OLDER_VERSION,
  resultOf,
  startEngine,
} from './engine-under-test.ts';

const engine = await startEngine();
afterAll(() => engine[Symbol.asyncDispose]());

/** Scans the same seller by the rules of each catalog. */
async function recordByEach(versions: readonly string[], answers: CraftedOptions['answers']) {
  await using seller = await startCraftedSeller({ ...(answers ? { answers } : {}) });
  const recordings: Recording[] = [];
  for (const version of versions) {
    const { report, observations } = await engine.scan(seller.url, version);
    recordings.push(toRecording(report, observations));
  }
  return recordings;
}

function findAnswers(name: string): CraftedOptions['answers'] {
  const row = [...BEHAVIOUR_ROWS, ...CHALLENGE_ROWS].find((crafted) => crafted.name === name);
  if (row === undefined) throw new Error(`no crafted seller is called "${name}"`);
  return row.answers;
}

const SELLER_NAMES = [
  'validation before payment on POST',
  'validation before payment, and nothing else for sale',
  'a declared GET that challenges only POST',
  'a POST resource only in the manifest, with 404 to all else',
  'no bazaar extension',
  'only version 1',
];

describe('a recording of the posting catalog, judged by the catalog without POST,', () => {
  test.each(SELLER_NAMES)('has results as if nothing had been posted: %s', async (name) => {
    const [withPosts, withoutPosts] = await recordByEach(
      [NEWER_VERSION, OLDER_VERSION],
      findAnswers(name),
    );
    if (!withPosts || !withoutPosts) throw new Error('nothing was recorded');
    const original = await engine.replay(withoutPosts, OLDER_VERSION);
    const replayed = await engine.replay(withPosts, OLDER_VERSION);
    expect(listCells(replayed)).toEqual(listCells(original));
    expect(replayed.report.checksVersion).toBe(OLDER_VERSION);
  });
});

describe('a recording of the catalog without POST, judged by the posting one,', () => {
  test('leaves the checks that need a POST undetermined', async () => {
    const [recording] = await recordByEach([OLDER_VERSION], {});
    if (!recording) throw new Error('nothing was recorded');
    const outcome = await engine.replay(recording, NEWER_VERSION);
    expect(resultOf(outcome, 'P2')).toMatchObject({ status: 'pass', basis: 'measured' });
    expect(resultOf(outcome, 'S5')).toMatchObject({ outcome: 'unseen', basis: 'not_determined' });
    expect(outcome.report).toMatchObject({ checksVersion: NEWER_VERSION, score: 100 });
  });

  test('has no finding against a seller who sells only by POST', async () => {
    const answers = findAnswers('validation before payment, and nothing else for sale');
    const [recording] = await recordByEach([OLDER_VERSION], answers);
    if (!recording) throw new Error('nothing was recorded');
    const outcome = await engine.replay(recording, NEWER_VERSION);
    expect(listCells(outcome)).toEqual(
      expect.arrayContaining(['P2 warn unseen', ...UNSEEN_CELLS, 'S5 warn unseen']),
    );
    for (const id of ['P2', 'P3', 'P4', 'P5', 'P6', 'P7', 'P8', 'S5']) {
      expect(resultOf(outcome, id).basis).toBe('not_determined');
    }
    expect(outcome.report.subScores.protocol).toBe(100);
  });
});

describe('a recording on disk', () => {
  test('gives the report of its scan, with the same bytes each time', async () => {
    await using seller = await startCraftedSeller();
    const { report, observations } = await engine.scan(seller.url);
    const file = await writeTempFile(JSON.stringify(toRecording(report, observations)));
    const [firstReading, secondReading] = [await readRecording(file), await readRecording(file)];
    expect((await engine.replay(firstReading, NEWER_VERSION)).report).toEqual(report);
    for (const version of [OLDER_VERSION, NEWER_VERSION]) {
      const [firstReplay, secondReplay] = [
        await engine.replay(firstReading, version),
        await engine.replay(secondReading, version),
      ];
      expect(JSON.stringify(firstReplay)).toBe(JSON.stringify(secondReplay));
    }
  });

  test.each<readonly [string, (recording: Recording) => unknown, message: RegExp]>([
    [
      'of another format',
      (recording) => ({ ...recording, format: 'har' }),
      /\/format .*make it with --save/,
    ],
    [
      'of a later schema',
      (recording) => ({ ...recording, schemaVersion: 3 }),
      /schema version 2 \(\/schemaVersion/,
    ],
    ['without a time', (recording) => ({ ...recording, scannedAt: 'today' }), /\/scannedAt/],
    [
      'without one of the observations',
      ({ observations: { robots: _, ...rest }, ...recording }) => ({
        ...recording,
        observations: rest,
      }),
      /\/observations .*robots/,
    ],
    [
      'whose observation is malformed',
      ({ observations, ...recording }) => ({
        ...recording,
        observations: { ...observations, root: { ok: 1 } },
      }),
      /\/observations\/root/,
    ],
  ])('%s is refused, and the message names the file and the member', async (_, damage, message) => {
    const [origin] = await recordedOrigins();
    if (!origin) throw new Error('nothing is recorded');
    const file = await writeTempFile(JSON.stringify(damage(origin.recording)));
    await expect(readRecording(file)).rejects.toThrow(message);
    await expect(readRecording(file)).rejects.toThrow(file);
  });

  test('is refused if it is missing or not JSON', async () => {
    await expect(readRecording(await writeTempFile('{"format":'))).rejects.toThrow(/not JSON/);
    await expect(readRecording('/nowhere/scan.json')).rejects.toThrow(/cannot be read/);
  });
});

async function writeTempFile(text: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'replay-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = join(folder, 'scan.json');
  await writeFile(file, text);
  return file;
}
