import { x402Client, x402HTTPClient } from '@x402/core/client';
import { AuthCaptureEvmScheme } from '@x402/evm/auth-capture/client';
import { BatchSettlementEvmScheme } from '@x402/evm/batch-settlement/client';
import { registerExactEvmScheme } from '@x402/evm/exact/client';
import { UptoEvmScheme } from '@x402/evm/upto/client';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import type { ChallengeAnswer } from './list-challenges.ts';
import type { SolanaSchemes } from './solana-schemes.ts';
import { type MakeClient, type Trial, tryChallenge } from './try-challenge.ts';

const ALL_EVM = 'eip155:*';

const makeClient = prepareClients();

/** Runs on the clients' thread. Gives the clients a copy, because they may change their input and `answer` is frozen. */
export async function tryOnThread(answer: ChallengeAnswer): Promise<Trial> {
  return await withPrototypeCheck(() => tryChallenge(structuredClone(answer), makeClient));
}

/** One thread serves all scans, so a trial that changes these objects would affect later trials. */
const SHARED_OBJECTS = [
  Object,
  Function,
  Array,
  String,
  Number,
  Boolean,
  BigInt,
  Symbol,
  RegExp,
  Date,
  Map,
  Set,
  Promise,
  Error,
  Uint8Array,
  JSON,
  Reflect,
].map((value) => ('prototype' in value ? value.prototype : value));

/** Rejects if `work` has changed a shared object. The caller must then end the thread. */
export async function withPrototypeCheck<Result>(work: () => Promise<Result>): Promise<Result> {
  const before = listMembers();
  const result = await work();
  const after = listMembers();
  const isChanged = (value: unknown, index: number) => !Object.is(value, before[index]);
  if (after.length !== before.length || after.some(isChanged)) {
    throw new TypeError('The trial changed what every object of its thread inherits.');
  }
  return result;
}

/** Lists the names and values of all members. An added, removed or replaced member changes the list. */
function listMembers(): readonly unknown[] {
  return SHARED_OBJECTS.flatMap((object) =>
    Reflect.ownKeys(object).flatMap((name) => {
      const { value, get, set } = Object.getOwnPropertyDescriptor(object, name) ?? {};
      return [name, value, get, set];
    }),
  );
}

/**
 * Sets up official clients as their quickstarts do, with a new key that holds no money. The clients cannot read a chain, so
 * every scheme signs by the offer only. Each call of the factory makes a new client, because some schemes keep state.
 */
function prepareClients(): MakeClient {
  const account = privateKeyToAccount(generatePrivateKey());
  /** Set at the first use, because Solana's packages take as long to load as all others together. */
  let solanaSchemes: Promise<SolanaSchemes> | undefined;

  return async (name, needsSolana) => {
    const client = new x402Client();
    registerExactEvmScheme(client, { signer: account });
    // `quickstart` pays on EVM networks only, as its README sets it up.
    if (needsSolana && name !== 'quickstart') {
      solanaSchemes ??= import('./solana-schemes.ts').then((module) =>
        module.createSolanaSchemes(),
      );
      (await solanaSchemes)(client, name === 'quickstart-svm' ? 'exact' : 'all');
    }
    if (name === 'full' || name === 'unlimited') {
      client.register(ALL_EVM, new UptoEvmScheme(account));
      client.register(ALL_EVM, new BatchSettlementEvmScheme(account));
      client.register(ALL_EVM, new AuthCaptureEvmScheme(account));
    }
    if (name === 'unlimited') client.setSpendControls(false);
    return new x402HTTPClient(client);
  };
}
