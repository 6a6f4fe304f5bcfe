/** viem over requests of our own. */
import { createPublicClient, custom, type PublicClient } from 'viem';
import type { NodeRequests } from './node-requests.ts';

/** viem's reading half on these requests. It repeats nothing: the caller knows whether to ask again. */
export function clientOn(requests: NodeRequests, pollingIntervalMs = 500): PublicClient {
  return createPublicClient({
    cacheTime: 0,
    // A contract could name any URL for viem to fetch (ERC-3668).
    ccipRead: false,
    pollingInterval: pollingIntervalMs,
    transport: custom(requests, { retryCount: 0 }),
  });
}
