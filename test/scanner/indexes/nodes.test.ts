/** Advice about offers agrees with a real node that runs real contracts. */
import {
  createTestClient,
  encodeErrorResult,
  encodeFunctionData,
  getAddress,
  hashDomain,
  http,
  parseAbi,
  publicActions,
  walletActions,
} from 'viem';
import { generatePrivateKey, privateKeyToAccount, privateKeyToAddress } from 'viem/accounts';
import { base } from 'viem/chains';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { advise } from '../../../src/scanner/clients/advise.ts';
import { checkOffersOnEvm } from '../../../src/scanner/indexes/evm-node.ts';
import { checkOffersOnSolana } from '../../../src/scanner/indexes/solana-node.ts';
import type { ChainOffer } from '../../../src/scanner/model/standing.ts';
import { chainUnavailable } from '../../fixtures/chain/anvil-process.ts';
import { compileContracts } from '../../fixtures/chain/compile-contracts.ts';
import { startChain, type TestChain } from '../../fixtures/chain/test-chain.ts';
import { needs } from '../../fixtures/needs.ts';
import { perfectSeller } from '../../fixtures/observations/build-observations.ts';
import { requestContext } from './request-context.ts';
import { startStandIn } from './stand-in.ts';

const BLOCKING_TOKEN = '0x0dd0000000000000000000000000000000000001';
const HIDDEN_DOMAIN_TOKEN = '0x0dd0000000000000000000000000000000000002';
const BLOCKING_ABI = parseAbi([
  'function list(address account)',
  'function refuse(address account)',
]);
const DOMAIN_ABI = parseAbi(['function DOMAIN_SEPARATOR() view returns (bytes32)']);

const newAddress = () => privateKeyToAddress(generatePrivateKey());

describe('an EVM chain', needs(chainUnavailable()), () => {
  const blockedAddress = newAddress();
  const refusedAddress = newAddress();
  let chain: TestChain;

  beforeAll(async () => {
    chain = await startChain();
    const { OddToken, Token } = await compileContracts();
    const client = createTestClient({ chain: base, mode: 'anvil', transport: http(chain.rpcUrl) })
      .extend(publicActions)
      .extend(walletActions);
    await client.setCode({ address: BLOCKING_TOKEN, bytecode: OddToken });
    await client.setCode({ address: HIDDEN_DOMAIN_TOKEN, bytecode: Token });
    const account = privateKeyToAccount(await chain.newFundedKey());
    for (const [functionName, to] of [
      ['list', blockedAddress],
      ['refuse', refusedAddress],
    ] as const) {
      const data = encodeFunctionData({ abi: BLOCKING_ABI, functionName, args: [to] });
      const hash = await client.sendTransaction({ account, to: BLOCKING_TOKEN, data });
      await client.waitForTransactionReceipt({ hash });
    }
    const separator = await client.readContract({
      address: BLOCKING_TOKEN,
      abi: DOMAIN_ABI,
      functionName: 'DOMAIN_SEPARATOR',
    });
    expect(separator).toBe(hashTokenDomain('Odd Dollar', '7'));
  });
  afterAll(() => chain?.[Symbol.asyncDispose]());

  test.each<readonly [string, () => Partial<ChainOffer>, readonly string[]]>([
    ['the offer is right', () => ({}), []],
    ['the asset has no code', () => ({ asset: newAddress() }), ['asset-without-code']],
    ['the offer names another domain', () => ({ name: 'Odd dollar' }), ['domain-differs']],
    ['the offer names another version', () => ({ version: '1' }), ['domain-differs']],
    ['the token blocks the recipient', () => ({ payTo: blockedAddress }), ['transfer-reverts']],
    ['the token refuses the recipient', () => ({ payTo: refusedAddress }), ['transfer-reverts']],
    [
      'the asset is known, so its domain is not compared',
      () => ({ name: 'Wrong', isKnown: true }),
      [],
    ],
    [
      'the offer differs from the hidden domain of the token',
      () => ({ asset: HIDDEN_DOMAIN_TOKEN, name: 'Other', version: '2' }),
      ['domain-differs'],
    ],
    [
      'the offer names the hidden domain of the token',
      () => ({ asset: HIDDEN_DOMAIN_TOKEN, name: 'USD Coin', version: '2' }),
      [],
    ],
  ])('gives the right advice if %s', async (_title, changes, ids) => {
    const offer = { ...createRightOffer(), ...changes() };
    const answer = await checkOffersOnEvm({ rpcUrl: chain.rpcUrl }, [offer], requestContext());
    expect(answer).toMatchObject({ ok: true });
    expect(listAdviceIds(answer)).toEqual(ids);
  });

  test("names the token's signing domain", async () => {
    const offer = { ...createRightOffer(), name: 'Wrong' };
    const answer = await checkOffersOnEvm({ rpcUrl: chain.rpcUrl }, [offer], requestContext());
    expect(answer).toMatchObject({
      value: [{ domain: { agrees: false, named: { name: 'Odd Dollar', version: '7' } } }],
    });
  });

  test('is not asked about offers on other chains', async () => {
    const offer = { ...createRightOffer(), network: 'eip155:1' };
    const answer = await checkOffersOnEvm({ rpcUrl: chain.rpcUrl }, [offer], requestContext());
    expect(answer).toEqual({ ok: true, value: [] });
  });

  test('whose node is down gives no facts', async () => {
    const answer = await checkOffersOnEvm(
      { rpcUrl: 'http://127.0.0.1:9' },
      [createRightOffer()],
      requestContext(),
    );
    expect(answer.ok).toBe(false);
  });

  function createRightOffer(): ChainOffer {
    const domain = { name: 'Odd Dollar', version: '7', isKnown: false };
    return { network: chain.network, asset: BLOCKING_TOKEN, payTo: newAddress(), ...domain };
  }
});

describe('the contract of an asset', () => {
  const PAY_TO = newAddress();
  const offer: ChainOffer = {
    network: 'eip155:8453',
    asset: newAddress(),
    payTo: PAY_TO,
    name: 'Odd Dollar',
    version: '7',
    isKnown: false,
  };
  type Call = { readonly to: string; readonly data: string };

  /** Starts a node that answers every contract call with `answerCall`. */
  async function startNode(code: string, answerCall: (call: Call) => object) {
    const calledMethods: string[] = [];
    const node = await startStandIn((_url, body) => {
      if (body === '') return { json: {} };
      const { method, params } = JSON.parse(body);
      calledMethods.push(method);
      if (method === 'eth_chainId') return { json: { result: '0x2105' } };
      if (method === 'eth_getCode') return { json: { result: code } };
      return { json: answerCall(params[0]) };
    });
    onTestFinished(() => node.close());
    return { node, calledMethods };
  }
  const readFacts = async (rpcUrl: string) => {
    const answer = await checkOffersOnEvm({ rpcUrl }, [offer], requestContext());
    return answer.ok ? answer.value[0] : answer;
  };
  const CODE_ONLY = { hasCode: true, domain: null, transferReverts: null };
  const isTransferTo = ({ data }: Call, to: string) =>
    data.startsWith('0xa9059cbb') && data.includes(to.slice(2).toLowerCase());

  test('that answers 3 MB to each call gives no facts', async () => {
    const { node, calledMethods } = await startNode('0x6080', () => ({
      result: `0x${'20'.repeat(3e6)}`,
    }));
    expect(await readFacts(node.url)).toMatchObject(CODE_ONLY);
    expect(calledMethods).toContain('eth_call');
  });

  test('that answers 3 MB to a transfer to the recipient is not judged to refuse it', async () => {
    const { node } = await startNode('0x6080', (call) => ({
      result: isTransferTo(call, PAY_TO) ? `0x${'20'.repeat(3e6)}` : '0x',
    }));
    expect(await readFacts(node.url)).toMatchObject({ transferReverts: null });
  });

  test.each([
    ['24 KiB', 24 * 1024],
    ['100 KiB (more than we read)', 100 * 1024],
  ])('with %s of code counts as having code', async (_title, bytes) => {
    const { node } = await startNode(`0x${'60'.repeat(bytes)}`, () => ({ result: '0x' }));
    expect(await readFacts(node.url)).toMatchObject({ hasCode: true });
  });

  test('is absent if its address has no code', async () => {
    const { node } = await startNode('0x', () => ({ result: '0x' }));
    expect(await readFacts(node.url)).toMatchObject({ hasCode: false });
  });

  test('cannot make the scanner fetch a URL (ERC-3668)', async () => {
    const luringServer = await startStandIn(() => ({ json: { data: '0x' } }));
    onTestFinished(() => luringServer.close());
    const { node } = await startNode('0x6080', ({ to }) => {
      const data = encodeErrorResult({
        abi: parseAbi(['error OffchainLookup(address, string[], bytes, bytes4, bytes)']),
        args: [getAddress(to), [luringServer.url], '0x', '0x00000000', '0x'],
      });
      return { error: { code: 3, message: 'execution reverted', data } };
    });
    expect(await readFacts(node.url)).toMatchObject(CODE_ONLY);
    expect(luringServer.requestedPaths).toEqual([]);
  });
});

test.each([
  [[], ['no-token-account']],
  [[{ pubkey: 'x' }], []],
])('on Solana, a recipient with the token accounts %j gives the advice %j', async (value, ids) => {
  const node = await startStandIn((_url, body) => ({
    json: {
      result: body.includes('getGenesisHash')
        ? '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d'
        : { value },
    },
  }));
  const offer: ChainOffer = {
    network: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp',
    asset: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
    payTo: '2wKupLR9q6wXYppw8Gr2NvWxKBUqm4PPJKkQfoxHDBg4',
    name: null,
    version: null,
    isKnown: true,
  };
  onTestFinished(() => node.close());
  expect(listAdviceIds(await checkOffersOnSolana(node.url, [offer], requestContext()))).toEqual(
    ids,
  );
});

function hashTokenDomain(name: string, version: string) {
  const domain = { name, version, chainId: base.id, verifyingContract: BLOCKING_TOKEN } as const;
  const types: Record<string, { name: string; type: string }[]> = {
    EIP712Domain: [
      { name: 'name', type: 'string' },
      { name: 'version', type: 'string' },
      { name: 'chainId', type: 'uint256' },
      { name: 'verifyingContract', type: 'address' },
    ],
  };
  return hashDomain({ domain, types });
}

function listAdviceIds(answer: Awaited<ReturnType<typeof checkOffersOnEvm>>): readonly string[] {
  const chain = answer.ok ? answer.value : [];
  return advise({ ...perfectSeller(), chain }).map(({ id }) => id);
}
