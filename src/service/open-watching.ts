import type { Config } from '../config/config.ts';
import type { OriginTurns } from '../limits/origin-turns.ts';
import type { FetchToken } from '../ownership/ownership-token.ts';
import type { ScanCoordinator } from '../scan/scan-coordinator.ts';
import type { Store } from '../store/store.ts';
import type { AskResources } from '../watch/ask-resources.ts';
import type { PostWebhook } from '../watch/delivery.ts';
import type { ResolveOrigin } from '../watch/look.ts';
import { toWatchTiming } from '../watch/timing.ts';
import { createWatching, type Watching } from '../watch/watching.ts';
import { WatchMetrics } from './watch-metrics.ts';

export type OpenWatching = Watching & { readonly metrics: WatchMetrics };

export type OpenWatchingOptions = {
  readonly config: Config;
  readonly store: Store;
  readonly scanCoordinator: ScanCoordinator;
  readonly askResources: AskResources;
  readonly fetchToken: FetchToken;
  readonly resolve: ResolveOrigin;
  readonly postWebhook: PostWebhook;
  readonly turns: OriginTurns;
  readonly onError: (message: string, error: unknown) => void;
};

/** Looks at nothing before `start`. */
export function openWatching({ config, ...parts }: OpenWatchingOptions): OpenWatching {
  const metrics = new WatchMetrics();
  const watching = createWatching({
    ...parts,
    siteUrl: config.siteUrl,
    policy: config.originPolicy,
    timing: toWatchTiming(config.timeScale),
    onEvent: (event) => metrics.observe(event),
  });
  metrics.watch(watching);
  return {
    start: () => watching.start(),
    tick: () => watching.tick(),
    published: (host) => watching.published(host),
    idle: () => watching.idle(),
    lateness: () => watching.lateness(),
    stop: (graceMs) => watching.stop(graceMs),
    metrics,
  };
}
