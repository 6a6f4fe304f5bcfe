/** Observations on disk: any grade can be replayed from them, offline, under any catalog. */
import type { Observations, ProbingOptions } from '../model/observations.ts';
import type { BudgetName, ScanReport } from '../model/report.ts';

export const RECORDING_FORMAT = 'x402-scan-observations';
/** 2 added what the clients say; files of version 1 are still read. */
export const RECORDING_SCHEMA_VERSION = 2;
export const OLDEST_SCHEMA_VERSION = 1;

export type Recording = {
  readonly format: typeof RECORDING_FORMAT;
  readonly schemaVersion: typeof OLDEST_SCHEMA_VERSION | typeof RECORDING_SCHEMA_VERSION;
  /** ISO 8601, UTC. */
  readonly scannedAt: string;
  /** Budgets of processor time that the scan used up: a replay does not judge what they pay for. */
  readonly exhausted?: readonly BudgetName[];
  readonly observations: Observations;
};

export function toRecording(
  { scannedAt, exhausted }: Pick<ScanReport, 'scannedAt' | 'exhausted'>,
  observations: Observations,
): Recording {
  return {
    format: RECORDING_FORMAT,
    schemaVersion: RECORDING_SCHEMA_VERSION,
    scannedAt,
    ...(exhausted ? { exhausted } : {}),
    observations,
  };
}

/**
 * The part of a recording that a catalog may know: one that sends no POST does not see recorded ones, and
 * one that does sees that none was sent.
 */
export function underCatalog(observations: Observations, probing: ProbingOptions): Observations {
  const post = probing.post && observations.probing.post;
  if (post === observations.probing.post) return observations;
  return {
    ...observations,
    probing: { ...observations.probing, post },
    resources: {
      ...observations.resources,
      probed: observations.resources.probed.map((resource) => ({
        ...resource,
        probes: resource.probes.filter((probe) => probe.method !== 'POST'),
      })),
    },
    payability: withoutPosts(observations.payability),
    links: {
      ...observations.links,
      checked: observations.links.checked.filter((link) => link.method !== 'POST'),
    },
  };
}

function withoutPosts(payability: Observations['payability']): Observations['payability'] {
  if (payability === null) return null;
  const isAsked = ({ method }: { readonly method: string }) => method !== 'POST';
  const resources = payability.resources.filter(isAsked);
  return { ...payability, resources, silent: payability.silent.filter(isAsked) };
}
