/** The contract suite on the shared store. */
import { describe } from 'vitest';
import { storeContract } from './contract.ts';
import { mongoSubject, startServerForFile } from './mongo-subject.ts';

const server = await startServerForFile();

describe('on MongoDB', server.needed, () => {
  storeContract('the shared store', mongoSubject(server.uri));
});
