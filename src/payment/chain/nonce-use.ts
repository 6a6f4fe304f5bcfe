/** Finds the transaction that used, or cancelled, an authorization's nonce. */
import { type Hex, numberToHex, type PublicClient, pad, toEventSelector } from 'viem';
import type { StoredPayment } from '../ledger/ledger.ts';

export type NonceUse = { readonly transaction: Hex; readonly isCancelled: boolean };

export type UseSearch = {
  /** A block before the authorization was claimed here; null if it is older than can be asked. */
  readonly first: bigint;
  readonly latest: bigint;
};

const USED = toEventSelector('AuthorizationUsed(address,bytes32)');
const CANCELED = toEventSelector('AuthorizationCanceled(address,bytes32)');
/** Blocks a call: most nodes answer for the first number, the strictest for the second. */
const WIDEST = 2_000n;
const NARROWEST = 10n;
/** Calls a look; at ten blocks a call they cover a quarter of an hour. */
const MAX_CALLS = 60;

/** The range was too long for the calls that one look may make. */
class TooManyBlocks extends Error {
  override readonly name = 'TooManyBlocks';
}

/** Remembers which ranges a node takes, for the next search. */
export class NonceUseFinder {
  readonly #client: PublicClient;
  #width = WIDEST;

  constructor(client: PublicClient) {
    this.#client = client;
  }

  /** Oldest first, for uses come soon after the claim. Null if no log tells. */
  async find(payment: StoredPayment, { first, latest }: UseSearch): Promise<NonceUse | null> {
    let calls = 0;
    let fromBlock = first;
    while (fromBlock <= latest) {
      if (++calls > MAX_CALLS) throw new TooManyBlocks('more blocks than one look may ask for');
      const end = fromBlock + this.#width - 1n;
      const toBlock = end < latest ? end : latest;
      try {
        const use = await this.#ask(payment, fromBlock, toBlock);
        if (use !== null) return use;
        fromBlock = toBlock + 1n;
      } catch (error) {
        // Nodes refuse long ranges in as many words as there are nodes: any failure narrows them.
        if (this.#width === NARROWEST) {
          this.#width = WIDEST;
          throw error;
        }
        const narrower = this.#width / 4n;
        this.#width = narrower > NARROWEST ? narrower : NARROWEST;
      }
    }
    return null;
  }

  /** Filtered by payer and nonce: a busy token has thousands of these a minute. */
  async #ask(
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
          topics: [[USED, CANCELED], pad(authorization.from), authorization.nonce],
        },
      ],
    });
    const log = logs.find(({ transactionHash }) => transactionHash !== null);
    if (log?.transactionHash == null) return null;
    return { transaction: log.transactionHash, isCancelled: log.topics[0] === CANCELED };
  }
}
