import { AsyncLocalStorage } from 'node:async_hooks';
import { x402Facilitator } from '@x402/core/facilitator';
import { toFacilitatorEvmSigner } from '@x402/evm';
import { ExactEvmScheme } from '@x402/evm/exact/facilitator';
import {
  createWalletClient,
  custom,
  defineChain,
  type Hex,
  HttpRequestError,
  http,
  publicActions,
  TimeoutError,
  type VerifyTypedDataParameters,
} from 'viem';
import { nonceManager, privateKeyToAccount } from 'viem/accounts';
import { chainIdOf, type EvmNetwork } from '../challenge.ts';
import {
  type Facilitator,
  FacilitatorUnreachable,
  type SettleOutcome,
  type VerifyOutcome,
} from '../facilitator.ts';
import { settleOutcome, settleOutcomeOfError } from '../settle-outcome.ts';
import { facilitatorMessage } from './payload.ts';

export interface LocalOptions {
  readonly rpcUrl: string;
  readonly network: EvmNetwork;
  /** Pays the gas. One process alone may send from it: others would take its nonces. */
  readonly settlementKey: Hex;
  readonly rpcTimeoutMs?: number | undefined;
  /** How long a broadcast transaction may take to be mined before it is left to reconciling. */
  readonly confirmationTimeoutMs?: number | undefined;
  readonly pollIntervalMs?: number | undefined;
}

const RPC_TIMEOUT_MS = 8_000;
const CONFIRMATION_TIMEOUT_MS = 25_000;
const POLL_INTERVAL_MS = 500;

/** What one call to the facilitator did on the wire; its own answer leaves that out. */
interface RpcTrace {
  isUnanswered: boolean;
  isBroadcast: boolean;
}

/** Settles by itself, on `rpcUrl`, with the official facilitator in process. */
export function createLocalFacilitator(options: LocalOptions): Facilitator & { signer: Hex } {
  const traces = new AsyncLocalStorage<RpcTrace>();
  const { wallet, address } = connect(options, traces);
  const signer = toFacilitatorEvmSigner(
    {
      ...wallet,
      address,
      // The x402 types say "unknown" where those of viem know the fields of EIP-712.
      verifyTypedData: (args) => wallet.verifyTypedData(args as VerifyTypedDataParameters),
    },
    { confirmationTimeoutMs: options.confirmationTimeoutMs ?? CONFIRMATION_TIMEOUT_MS },
  );
  // Simulated first: a payment that fails must not use up a nonce of the account, or those sent
  // after it wait for the gap to be filled.
  const scheme = new ExactEvmScheme(signer, { simulateInSettle: true });
  const facilitator = new x402Facilitator().register([options.network], scheme);

  function traced<T>(work: (trace: RpcTrace) => Promise<T>): Promise<T> {
    const trace: RpcTrace = { isUnanswered: false, isBroadcast: false };
    return traces.run(trace, () => work(trace));
  }

  return {
    kind: 'local',
    location: `local, from ${address}`,
    signer: address,
    async supported() {
      const chainId = await wallet.getChainId().catch((cause: unknown) => {
        throw new FacilitatorUnreachable('RPC_URL does not answer eth_chainId', { cause });
      });
      const isOurs = chainId === chainIdOf(options.network);
      return isOurs ? facilitator.getSupported().kinds : [];
    },
    verify: (request) =>
      traced(async (trace): Promise<VerifyOutcome> => {
        const { payload, requirements } = facilitatorMessage(request);
        try {
          const verdict = await facilitator.verify(payload, requirements);
          if (verdict.isValid) return { kind: 'valid' };
          // A node that does not answer looks like a bad signature to the official scheme.
          if (trace.isUnanswered) return { kind: 'unavailable', reason: 'RPC_URL does not answer' };
          return { kind: 'invalid', reason: verdict.invalidReason ?? 'invalid' };
        } catch (error) {
          return { kind: 'unavailable', reason: String(error).slice(0, 300) };
        }
      }),
    settle: (request) =>
      traced(async (trace): Promise<SettleOutcome> => {
        const { payload, requirements } = facilitatorMessage(request);
        try {
          const response = await facilitator.settle(payload, requirements);
          return tempered(settleOutcome(response, request.payment), trace);
        } catch (error) {
          return tempered(settleOutcomeOfError(error), trace);
        }
      }),
  };
}

/** Corrects what the scheme made of errors: it names a reason even for a send whose reply was lost. */
function tempered(outcome: SettleOutcome, { isBroadcast, isUnanswered }: RpcTrace): SettleOutcome {
  if (outcome.kind === 'settled' || outcome.kind === 'nonce_used') return outcome;
  if (outcome.kind === 'unclear' && outcome.transaction !== null) return outcome;
  if (!isBroadcast && isUnanswered) return { kind: 'not_sent', reason: 'RPC_URL does not answer' };
  if (!isBroadcast || outcome.kind === 'unclear') return outcome;
  return { kind: 'unclear', reason: `${outcome.reason}, after the broadcast`, transaction: null };
}

function connect(options: LocalOptions, traces: AsyncLocalStorage<RpcTrace>) {
  const { rpcUrl, network, rpcTimeoutMs = RPC_TIMEOUT_MS } = options;
  // Without the nonce manager, settlements sent at once collide.
  const account = privateKeyToAccount(options.settlementKey, { nonceManager });
  const chain = defineChain({
    id: chainIdOf(network),
    name: network,
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: { default: { http: [rpcUrl] } },
  });
  const node = http(rpcUrl, { timeout: rpcTimeoutMs, retryCount: 1 })({ chain });
  const transport = custom({
    async request(args: { method: string; params?: unknown }) {
      const trace = traces.getStore();
      if (trace && args.method === 'eth_sendRawTransaction') trace.isBroadcast = true;
      try {
        return await node.request(args);
      } catch (error) {
        const isUnanswered = error instanceof HttpRequestError || error instanceof TimeoutError;
        if (trace && isUnanswered) trace.isUnanswered = true;
        throw error;
      }
    },
  });
  const wallet = createWalletClient({
    account,
    chain,
    transport,
    pollingInterval: options.pollIntervalMs ?? POLL_INTERVAL_MS,
  }).extend(publicActions);
  return { wallet, address: account.address };
}
