/** Compares index entries with live challenges on workers. Third parties' budget pays. */

import { selectObservations } from '../engine/judging-pool.ts';
import type { ComparedRow } from '../indexes/compare-listings.ts';
import { reason } from '../indexes/listing-reasons.ts';
import { INDEXED_REASONS, type IndexedRow } from '../model/indexed.ts';
import type { Observations } from '../model/observations.ts';
import { type ScanWork, type WorkModule, workOn } from './origin-work.ts';

const COMPARE_MODULE: WorkModule<typeof import('../indexes/compare-listings.ts')> = new URL(
  '../indexes/compare-listings.ts',
  import.meta.url,
);
const VALIDATE_MODULE: WorkModule<typeof import('../indexes/validate-declarations.ts')> = new URL(
  '../indexes/validate-declarations.ts',
  import.meta.url,
);
const COMPARED = ['origin', 'resources', 'x402scan', 'settlements', 'bazaar'] as const;

/** Empty when nothing is sold, no index is asked, or the answers exceed the limits. */
export async function readIndexed(
  seen: Observations,
  work: ScanWork,
): Promise<readonly IndexedRow[]> {
  if (seen.resources.probed.length === 0) return [];
  const compared = selectObservations(seen, COMPARED);
  const worked = await workOn(work, 'standing', COMPARE_MODULE, 'compareListings', compared);
  if (!worked.ok) return [];
  return withInvalidDeclarations(worked.output, work);
}

/** The validator is loaded only when a missing resource has a declaration. */
async function withInvalidDeclarations(
  rows: readonly ComparedRow[],
  work: ScanWork,
): Promise<readonly IndexedRow[]> {
  const declared = rows.flatMap(({ declaration }) => declaration ?? []);
  if (declared.length === 0) return rows.map(({ row }) => row);
  const declarations = rows.map(({ declaration }) => declaration ?? VALID);
  const worked = await workOn(
    work,
    'standing',
    VALIDATE_MODULE,
    'validateDeclarations',
    declarations,
  );
  return rows.map(({ row, declaration }, index) => {
    const error = declaration === undefined || !worked.ok ? null : (worked.output[index] ?? null);
    if (error === null) return row;
    const reasons = [...row.reasons, reason('invalid_bazaar_extension', error)].toSorted(
      (one, other) => INDEXED_REASONS.indexOf(one.code) - INDEXED_REASONS.indexOf(other.code),
    );
    return { ...row, reasons };
  });
}

/** Placeholder for a missing declaration; its verdict is ignored. */
const VALID = { info: {}, schema: {} };
