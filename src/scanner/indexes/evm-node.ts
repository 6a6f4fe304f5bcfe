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
import type { OfferOnChain } from '../model/observations.ts';
import type { ChainOffer } from '../model/standing.ts';
import { cleanText } from '../parse/text/text.ts';
import {
  isRevert,
  isTooLong,
  replaceLongAnswer,
  requireResult,
} from '../third-parties/node-answers.ts';
import {
  askNode,
  type RequestContext,
  type SourceAnswer,
  toFailure,
  toNodeFailure,
} from './ask.ts';
import type { LookupTurn } from './source-options.ts';

export type EvmNodeOptions = {
  readonly rpcUrl: string;
  readonly chainTurn?: LookupTurn | undefined;
};

const TOKEN_ABI = parseAbi([
  'function DOMAIN_SEPARATOR() view returns (bytes32)',
  'function eip712Domain() view returns (bytes1, string, string, uint256, address, bytes32, uint256[])',
  'function isBlacklisted(address account) view returns (bool)',
  'function transfer(address to, uint256 value) returns (bool)',
]);
/** Nobody has the keys of these accounts. If a token accepts only the control recipient, it refuses payTo. */
const SENDER = '0x00000000000000000000000000000000000f4021';
const CONTROL_RECIPIENT = '0x00000000000000000000000000000000000f4022';
const MAX_NAME_CHARS = 80;

/** Checks asset, domain and recipient of the offers on the node's chain. Ignores other offers. */
export async function checkOffersOnEvm(
  { rpcUrl, chainTurn }: EvmNodeOptions,
  offers: readonly ChainOffer[],
  context: RequestContext,
): Promise<SourceAnswer<readonly OfferOnChain[]>> {
  try {
    const client = createChainClient(rpcUrl, context, chainTurn);
    const chainId = await client.getChainId();
    const chainOffers = offers.filter(({ network }) => network === `eip155:${chainId}`);
    const value = await Promise.all(chainOffers.map((offer) => checkOffer(client, chainId, offer)));
    return { ok: true, value };
  } catch (error) {
    const cause = findUnreachable(error);
    if (cause !== null) return toFailure(cause.message, cause.pauseMs);
    return toNodeFailure(rpcUrl);
  }
}

async function checkOffer(
  client: PublicClient,
  chainId: number,
  offer: ChainOffer,
): Promise<OfferOnChain> {
  const { network, payTo } = offer;
  const asset = getAddress(offer.asset.toLowerCase());
  const recipient = getAddress(payTo.toLowerCase());
  // Known assets have code, and our table has their domains: their code is not requested.
  const code = offer.isKnown ? null : ((await client.getCode({ address: asset })) ?? '0x');
  const hasCode = code !== '0x';
  const hasDomain = code !== null && hasCode && offer.name !== null && offer.version !== null;
  const [domain, transferReverts] = await Promise.all([
    hasDomain ? compareDomain(client, chainId, asset, offer) : null,
    hasCode ? doesTransferRevert(client, asset, recipient) : null,
  ]);
  const otherFacts = { noTokenAccount: null, domain, transferReverts };
  return { network, asset: offer.asset, payTo, hasCode, ...otherFacts };
}

/** Compares the offer's domain with the token's own; null if the token does not say. */
async function compareDomain(
  client: PublicClient,
  chainId: number,
  asset: Address,
  { name, version }: ChainOffer,
): Promise<OfferOnChain['domain']> {
  const token = { address: asset, abi: TOKEN_ABI } as const;
  const separator = await nullIfReverted(
    client.readContract({ ...token, functionName: 'DOMAIN_SEPARATOR' }),
  );
  if (separator === null) return null;
  const domain = { name: name ?? '', version: version ?? '', chainId, verifyingContract: asset };
  if (separator === domainSeparator({ domain })) return { agrees: true, named: null };
  const reply = await nullIfReverted(
    client.readContract({ ...token, functionName: 'eip712Domain' }),
  );
  const named =
    reply === null
      ? null
      : { name: cleanText(reply[1], MAX_NAME_CHARS), version: cleanText(reply[2], MAX_NAME_CHARS) };
  return { agrees: false, named };
}

/**
 * True if the token refuses a transfer to `payTo`. Returns null if it also refuses the control recipient, because that
 * proves nothing about `payTo`.
 */
async function doesTransferRevert(
  client: PublicClient,
  asset: Address,
  payTo: Address,
): Promise<boolean | null> {
  const token = { address: asset, abi: TOKEN_ABI } as const;
  const isBlocked = await nullIfReverted(
    client.readContract({ ...token, functionName: 'isBlacklisted', args: [payTo] }),
  );
  if (isBlocked === true) return true;
  const [acceptsControl, acceptsPayTo] = await Promise.all(
    [CONTROL_RECIPIENT, payTo].map((to) => acceptsTransfer(client, asset, getAddress(to))),
  );
  return acceptsControl === true && acceptsPayTo !== null ? !acceptsPayTo : null;
}

/** Simulates a transfer of zero, for which the sender needs no balance. Returns null if the answer is over its cap. */
async function acceptsTransfer(
  client: PublicClient,
  asset: Address,
  to: Address,
): Promise<boolean | null> {
  const data = encodeFunctionData({ abi: TOKEN_ABI, functionName: 'transfer', args: [to, 0n] });
  try {
    await client.call({ account: getAddress(SENDER), to: asset, data });
    return true;
  } catch (error) {
    if (isTooLong(error)) return null;
    if (hasNoResult(error)) return false;
    throw error;
  }
}

/** Returns null if the contract reverts, lacks the function or answers over the cap. Throws if the node gave no answer. */
async function nullIfReverted<T>(call: Promise<T>): Promise<T | null> {
  try {
    return await call;
  } catch (error) {
    if (hasNoResult(error)) return null;
    throw error;
  }
}

function hasNoResult(error: unknown): boolean {
  if (!(error instanceof BaseError) || findUnreachable(error) !== null) return false;
  return isReverted(error) || isTooLong(error) || isEmptyAnswer(error);
}

export function findUnreachable(error: unknown): ChainUnreachable | null {
  if (!(error instanceof BaseError)) return null;
  const cause = error.walk((inner) => inner instanceof ChainUnreachable);
  return cause instanceof ChainUnreachable ? cause : null;
}

function isReverted(error: BaseError): boolean {
  return isRevert(error) || error.walk((cause) => cause instanceof ExecutionRevertedError) !== null;
}

function isEmptyAnswer(error: BaseError): boolean {
  const names = ['ContractFunctionZeroDataError', 'AbiDecodingDataSizeTooSmallError'];
  return error.walk((inner) => inner instanceof Error && names.includes(inner.name)) !== null;
}

/** The node gave no answer. The message is one line for evidence. */
class ChainUnreachable extends Error {
  override readonly name = 'ChainUnreachable';
  readonly pauseMs: number;

  constructor(detail: string, pauseMs: number) {
    super(detail);
    this.pauseMs = pauseMs;
  }
}

/** Creates a viem client whose calls share one deadline. Each method has a size cap, and a busy node gets one retry. */
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
    if (!reply.isTooLong) throw new ChainUnreachable(reply.detail, reply.pauseMs);
    return requireResult(method, 200, replaceLongAnswer(method));
  }
  return createPublicClient({
    // With CCIP read, a contract could make viem fetch any URL (ERC-3668).
    ccipRead: false,
    // `ask` retries. viem would wait for a long Retry-After beyond the deadline.
    transport: custom({ request }, { retryCount: 0 }),
  });
}
