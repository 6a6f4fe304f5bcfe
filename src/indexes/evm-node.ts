import {
  type Address,
  BaseError,
  createPublicClient,
  custom,
  domainSeparator,
  ExecutionRevertedError,
  encodeFunctionData,
  getAddress,
  type PublicClient,
  parseAbi,
} from 'viem';
import { isRevert, isTooLong, replaceLongAnswer, requireResult } from '../answers/node-error.ts';
import type { OfferOnChain } from '../model/observations.ts';
import type { ChainOffer } from '../model/standing.ts';
import { cleanText } from '../parse/text/text.ts';
import { askNode, failed, type IndexAnswer, type RequestContext } from './ask.ts';
import type { LookupTurn } from './options.ts';

export type ChainFactsOptions = {
  readonly rpcUrl: string;
  readonly chainTurn?: LookupTurn | undefined;
};

const TOKEN = parseAbi([
  'function DOMAIN_SEPARATOR() view returns (bytes32)',
  'function eip712Domain() view returns (bytes1, string, string, uint256, address, bytes32, uint256[])',
  'function isBlacklisted(address account) view returns (bool)',
  'function transfer(address to, uint256 value) returns (bool)',
]);
/** Accounts without a known key, as a control: a token that accepts them and reverts for payTo refuses payTo. */
const SENDER = '0x00000000000000000000000000000000000f4021';
const CONTROL = '0x00000000000000000000000000000000000f4022';
const MAX_NAME_CHARS = 80;

/** Checks asset, domain and recipient of offers on the EVM node's chain; other offers are left out. */
export async function offersOnChain(
  { rpcUrl, chainTurn }: ChainFactsOptions,
  offers: readonly ChainOffer[],
  context: RequestContext,
): Promise<IndexAnswer<readonly OfferOnChain[]>> {
  try {
    const client = createChainClient(rpcUrl, context, chainTurn);
    const chainId = await client.getChainId();
    const here = offers.filter(({ network }) => network === `eip155:${chainId}`);
    const value = await Promise.all(here.map((offer) => askFor(client, chainId, offer)));
    return { ok: true, value };
  } catch (error) {
    const cause = unreachable(error);
    if (cause !== null) return failed(cause.message, cause.quietMs);
    return failed(`${new URL(rpcUrl).host} answered calls of the chain in no known form`);
  }
}

async function askFor(
  client: PublicClient,
  chainId: number,
  offer: ChainOffer,
): Promise<OfferOnChain> {
  const { network, payTo } = offer;
  const asset = getAddress(offer.asset.toLowerCase());
  const recipient = getAddress(payTo.toLowerCase());
  // A known asset has code, and the table has its domain.
  const code = offer.isKnown ? null : ((await client.getCode({ address: asset })) ?? '0x');
  const hasCode = code !== '0x';
  const isNamed = code !== null && hasCode && offer.name !== null && offer.version !== null;
  const [domain, transferReverts] = await Promise.all([
    isNamed ? readDomain(client, chainId, asset, offer) : null,
    hasCode ? revertsTo(client, asset, recipient) : null,
  ]);
  const rest = { noTokenAccount: null, domain, transferReverts };
  return { network, asset: offer.asset, payTo, hasCode, ...rest };
}

async function readDomain(
  client: PublicClient,
  chainId: number,
  asset: Address,
  { name, version }: ChainOffer,
): Promise<OfferOnChain['domain']> {
  const token = { address: asset, abi: TOKEN } as const;
  const separator = await unlessReverted(
    client.readContract({ ...token, functionName: 'DOMAIN_SEPARATOR' }),
  );
  if (separator === null) return null;
  const domain = { name: name ?? '', version: version ?? '', chainId, verifyingContract: asset };
  if (separator === domainSeparator({ domain })) return { agrees: true, named: null };
  const reply = await unlessReverted(
    client.readContract({ ...token, functionName: 'eip712Domain' }),
  );
  const named =
    reply === null
      ? null
      : { name: cleanText(reply[1], MAX_NAME_CHARS), version: cleanText(reply[2], MAX_NAME_CHARS) };
  return { agrees: false, named };
}

/** Null when the token refuses the control too, which says nothing of the recipient. */
async function revertsTo(
  client: PublicClient,
  asset: Address,
  payTo: Address,
): Promise<boolean | null> {
  const token = { address: asset, abi: TOKEN } as const;
  const isBlocked = await unlessReverted(
    client.readContract({ ...token, functionName: 'isBlacklisted', args: [payTo] }),
  );
  if (isBlocked === true) return true;
  const [control, own] = await Promise.all(
    [CONTROL, payTo].map((to) => isTaken(client, asset, getAddress(to))),
  );
  return control === true && own !== null ? !own : null;
}

/** Simulates a transfer of zero, which needs no balance of the sender; null if the answer is over its cap. */
async function isTaken(client: PublicClient, asset: Address, to: Address): Promise<boolean | null> {
  const data = encodeFunctionData({ abi: TOKEN, functionName: 'transfer', args: [to, 0n] });
  const call = client.call({ account: getAddress(SENDER), to: asset, data });
  const taken = call.then(
    () => true,
    (error: unknown) => {
      if (isTooLong(error)) return 'too long';
      throw error;
    },
  );
  const reply = await unlessReverted(taken);
  return reply === 'too long' ? null : reply === true;
}

/** Null when the contract reverts, lacks the function or answers beyond the cap; throws when the node did not answer. */
async function unlessReverted<T>(call: Promise<T>): Promise<T | null> {
  try {
    return await call;
  } catch (error) {
    if (!(error instanceof BaseError) || unreachable(error) !== null) throw error;
    if (isReverted(error) || isTooLong(error) || isEmptyAnswer(error)) return null;
    throw error;
  }
}

export function unreachable(error: unknown): ChainUnreachable | null {
  if (!(error instanceof BaseError)) return null;
  const cause = error.walk((inner) => inner instanceof ChainUnreachable);
  return cause instanceof ChainUnreachable ? cause : null;
}

function isReverted(error: BaseError): boolean {
  return isRevert(error) || error.walk((one) => one instanceof ExecutionRevertedError) !== null;
}

function isEmptyAnswer(error: BaseError): boolean {
  const names = ['ContractFunctionZeroDataError', 'AbiDecodingDataSizeTooSmallError'];
  return error.walk((inner) => inner instanceof Error && names.includes(inner.name)) !== null;
}

/** The chain gave no answer; the message is one line for evidence. */
class ChainUnreachable extends Error {
  override readonly name = 'ChainUnreachable';
  readonly quietMs: number;

  constructor(detail: string, quietMs: number) {
    super(detail);
    this.quietMs = quietMs;
  }
}

/** Runs viem over bounded requests: one deadline for all calls, a cap for each method, one retry when busy. */
export function createChainClient(
  rpcUrl: string,
  context: RequestContext,
  turn?: LookupTurn,
): PublicClient {
  type Call = { readonly method: string; readonly params?: unknown };

  async function request({ method, params = [] }: Call): Promise<unknown> {
    await turn?.(context.deadline.signal).catch(() => {
      throw new ChainUnreachable(
        `${new URL(rpcUrl).host} was not asked in time: other lookups came first`,
        0,
      );
    });
    const reply = await askNode(rpcUrl, method, params, context);
    if (reply.ok) return requireResult(method, reply.value.status, reply.value.value);
    if (!reply.isTooLong) throw new ChainUnreachable(reply.detail, reply.quietMs);
    return requireResult(method, 200, replaceLongAnswer(method));
  }
  return createPublicClient({
    // A contract could name any URL for viem to fetch (ERC-3668).
    ccipRead: false,
    // `ask` retries. viem would wait for a long Retry-After beyond the deadline.
    transport: custom({ request }, { retryCount: 0 }),
  });
}
