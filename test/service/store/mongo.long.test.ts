/** The contract suite on the shared store. */
import { afterAll, describe } from 'vitest';
import { startMongoServer } from '../../fixtures/mongo-server/mongo-server.ts';
import { needs } from '../../fixtures/needs.ts';
import { storeContract } from './contract.ts';
import { mongoSubject } from './mongo-subject.ts';

const server = await startMongoServer();

describe('on MongoDB', needs('uri' in server ? null : server.unavailable), () => {
  afterAll(async () => {
    if ('uri' in server) await server[Symbol.asyncDispose]();
  });

  storeContract('the shared store', mongoSubject('uri' in server ? server.uri : ''));
});
