/** Every answer computed after an owner's change respects the change, at every instance that uses the same store. */
import { afterAll, describe, expect, test } from 'vitest';
import { toPaymentTerms } from '../../../src/service/start/open-payments.ts';
import { openStore } from '../../../src/service/store/open-store.ts';
import { startMongoServer } from '../../fixtures/mongo-server/mongo-server.ts';
import { needs } from '../../fixtures/needs.ts';
import { startApp, type TestApp } from '../../fixtures/service/start-app.ts';
import { newPayer } from '../payment/payer.ts';
import { issuedToken } from '../store/contract/samples.ts';
import { dropDatabase, freshDatabase } from '../store/mongo-subject.ts';

const mongo = await startMongoServer();
afterAll(async () => {
  if ('uri' in mongo) await mongo[Symbol.asyncDispose]();
});

const HIDDEN_HOST = 'hidden.example.com';
const SHOWN_HOST = 'shown.example.com';
const PRICES = { export: 100_000n, changes: 30_000n };
const SINCE = '2026-01-01T00:00:00Z';

/** Owners change settings at `writer`, and callers read from `reader`. They may be the same instance. */
type Instances = AsyncDisposable & { readonly reader: TestApp; readonly writer: TestApp };

async function startOneInstance(): Promise<Instances> {
  const app = await startApp({ environment: { RATE_LIMIT: 'off' } });
  return { reader: app, writer: app, [Symbol.asyncDispose]: () => app[Symbol.asyncDispose]() };
}

async function startTwoInstances(): Promise<Instances> {
  await using undo = new AsyncDisposableStack();
  const url = freshDatabase('uri' in mongo ? mongo.uri : '');
  undo.defer(() => dropDatabase(url));
  const environment = { RATE_LIMIT: 'off' };
  const start = (name: string) =>
    startApp({
      environment,
      openStore: (clock) => openStore(url, { clock, owner: { host: name, boot: name } }),
    });
  const reader = undo.use(await start('reader'));
  const writer = undo.use(await start('writer'));
  const cleanup = undo.move();
  return { reader, writer, [Symbol.asyncDispose]: () => cleanup.disposeAsync() };
}

async function buy(app: TestApp, operation: keyof typeof PRICES) {
  const payer = newPayer(undefined, toPaymentTerms(app.config));
  const { header } = await payer.sign({ value: PRICES[operation], nowMs: app.now() });
  const path = { export: '/v1/directory/export', changes: `/v1/changes?since=${SINCE}` };
  const answer = await app.get(path[operation], { 'payment-signature': header });
  expect(answer.statusCode).toBe(200);
  return { header, body: answer.body };
}

/** Reads each route whose answer can show several origins. */
const LIST_READERS: Readonly<Record<string, (app: TestApp) => Promise<string>>> = {
  'GET /v1/directory': async (app) => (await app.get('/v1/directory')).body,
  'GET /v1/directory?q=': async (app) => (await app.get('/v1/directory?q=example')).body,
  'GET /v1/directory, best first': async (app) => (await app.get('/v1/directory?sort=grade')).body,
  'GET /v1/featured': async (app) => (await app.get('/v1/featured')).body,
  'GET /': async (app) => (await app.get('/')).body,
  'GET /v1/changes': async (app) => (await buy(app, 'changes')).body,
  'GET /v1/directory/export': async (app) => (await buy(app, 'export')).body,
};

describe.each([
  ['one instance on SQLite', startOneInstance, null],
  ['two instances on MongoDB', startTwoInstances, 'uri' in mongo ? null : mongo.unavailable],
] as const)('with %s', (_, start, missing) => {
  describe('an owner', needs(missing), () => {
    test.each(Object.entries(LIST_READERS))(
      'who opts out vanishes from %s at once, and returns after opting in',
      async (_name, read) => {
        await using instances = await start();
        const { reader, writer } = instances;
        for (const host of [HIDDEN_HOST, SHOWN_HOST])
          await writer.publish(host, { grade: 'A', score: 95 });
        const answerBefore = await read(reader);
        expect(answerBefore).toContain(HIDDEN_HOST);

        await writer.store.listing.set(HIDDEN_HOST, { listed: false });
        const answerAfter = await read(reader);
        expect(answerAfter).not.toContain(HIDDEN_HOST);
        expect(answerAfter).toContain(SHOWN_HOST);

        await writer.store.listing.set(HIDDEN_HOST, { listed: true });
        expect(await read(reader)).toContain(HIDDEN_HOST);
      },
    );

    test('who opts out has no project, page or badge', async () => {
      await using instances = await start();
      const { reader, writer } = instances;
      await writer.publish(HIDDEN_HOST, { grade: 'A', score: 95 });
      const readHost = async () => ({
        project: (await reader.get(`/v1/project?host=${HIDDEN_HOST}`)).statusCode,
        page: (await reader.get(`/o/${HIDDEN_HOST}`)).statusCode,
        hasBadge: (await reader.get(`/badge/${HIDDEN_HOST}.svg`)).body.includes('95/100'),
      });
      expect(await readHost()).toEqual({ project: 200, page: 200, hasBadge: true });
      await writer.store.listing.set(HIDDEN_HOST, { listed: false });
      expect(await readHost()).toEqual({ project: 404, page: 404, hasBadge: false });
    });

    test('who suppresses branding, or proves control, changes the next export', async () => {
      await using instances = await start();
      const { reader, writer } = instances;
      await writer.publish(HIDDEN_HOST);
      const readExportedProject = async () =>
        JSON.parse((await buy(reader, 'export')).body).projects[0];
      const branded = await readExportedProject();
      expect(branded.displayName).not.toBe(HIDDEN_HOST);
      await writer.store.listing.set(HIDDEN_HOST, { enrichmentSuppressed: true });
      expect(await readExportedProject()).toMatchObject({
        displayName: HIDDEN_HOST,
        verified: false,
      });
      await writer.store.ownership.recordConfirm(HIDDEN_HOST, issuedToken('h'));
      expect(await readExportedProject()).toMatchObject({
        displayName: HIDDEN_HOST,
        verified: true,
      });
    });

    test('who opts out stays in the redelivered answers that were sold earlier', async () => {
      await using instances = await start();
      const { reader, writer } = instances;
      await writer.publish(HIDDEN_HOST);
      const { header, body } = await buy(reader, 'export');
      await writer.store.listing.set(HIDDEN_HOST, { listed: false });
      const redelivered = await reader.get('/v1/directory/export', { 'payment-signature': header });
      expect({ status: redelivered.statusCode, body: redelivered.body }).toEqual({
        status: 200,
        body,
      });
    });
  });
});
