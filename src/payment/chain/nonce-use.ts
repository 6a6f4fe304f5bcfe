/** Finds the transaction that used or cancelled an authorization's nonce, by its log (EIP-3009). */
import { type Hex, numberToHex, type PublicClient, pad, toEventSelector } from 'viem';
import type { StoredPayment } from '../ledger/ledger.ts';

export type NonceUse = { readonly transaction: Hex; readonly isCancelled: boolean };

export type BlockRange = {
  /** A block before the claim of the authorization. */
  readonly first: bigint;
  readonly latest: bigint;
};

const USED_TOPIC = toEventSelector('AuthorizationUsed(address,bytes32)');
const CANCELED_TOPIC = toEventSelector('AuthorizationCanceled(address,bytes32)');
/** Limits of blocks in one call. Most nodes accept the larger number. The strictest nodes accept the smaller number. */
const MAX_RANGE_BLOCKS = 2_000n;
const MIN_RANGE_BLOCKS = 10n;
/** Limit of calls of one search. With the smallest range, so many calls cover at least a quarter of an hour. */
const MAX_CALLS = 60;

/** The search would need more calls than it may make. */
class TooManyBlocks extends Error {
  override readonly name = 'TooManyBlocks';
}

/** Keeps the length of a range that the node accepts, for the next search. */
export class NonceUseFinder {
  readonly #client: PublicClient;
  #rangeBlocks = MAX_RANGE_BLOCKS;

  constructor(client: PublicClient) {
    this.#client = client;
  }

  /** Searches from the oldest block, because most uses follow soon after the claim. Null if no log shows a use. */
  async find(payment: StoredPayment, { first, latest }: BlockRange): Promise<NonceUse | null> {
    let calls = 0;
    let fromBlock = first;
    while (fromBlock <= latest) {
      if (++calls > MAX_CALLS) throw new TooManyBlocks('more blocks than one search may ask for');
      const rangeEnd = fromBlock + this.#rangeBlocks - 1n;
      const toBlock = rangeEnd < latest ? rangeEnd : latest;
      try {
        const use = await this.#findInRange(payment, fromBlock, toBlock);
        if (use !== null) return use;
        fromBlock = toBlock + 1n;
      } catch (error) {
        // Each node words its refusal of a long range differently, so every failure shortens the range.
        if (this.#rangeBlocks === MIN_RANGE_BLOCKS) {
          this.#rangeBlocks = MAX_RANGE_BLOCKS;
          throw error;
        }
        const shorterRange = this.#rangeBlocks / 4n;
        this.#rangeBlocks = shorterRange > MIN_RANGE_BLOCKS ? shorterRange : MIN_RANGE_BLOCKS;
      }
    }
    return null;
  }

  /** The node filters by payer and nonce, because a busy token has thousands of such logs a minute. */
  async #findInRange(
    { authorization, requirements }: StoredPayment,
    fromBlock: bigint,
    toBlock: bigint,
  ): Promise<NonceUse | null> {
    const logs = await this.#client.request({
      method: 'eth_getLogs',
      params: [
        {
          address: requirements.asset,
          fromBlock: numberToHex(fromBlock),
          toBlock: numberToHex(toBlock),
          topics: [[USED_TOPIC, CANCELED_TOPIC], pad(authorization.from), authorization.nonce],
        },
      ],
    });
    const log = logs.find(({ transactionHash }) => transactionHash !== null);
    if (log?.transactionHash == null) return null;
    return { transaction: log.transactionHash, isCancelled: log.topics[0] === CANCELED_TOPIC };
  }
}
