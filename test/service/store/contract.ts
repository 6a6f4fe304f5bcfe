/** The contract suite that both stores pass. */
import { describe } from 'vitest';
import { answersKeep } from './contract/answers.ts';
import { censusRemembers } from './contract/census.ts';
import { censusAddsUp } from './contract/census-sums.ts';
import { changesAreNumbered } from './contract/changes.ts';
import { countsAreExact } from './contract/counts.ts';
import { directoryLists } from './contract/directory.ts';
import { exportsAreConsistent } from './contract/exports.ts';
import { identifiersChain } from './contract/identifiers.ts';
import { leasesBound } from './contract/leases.ts';
import { ledgerAppends } from './contract/ledger.ts';
import { limitsCount } from './contract/limits.ts';
import { ownershipCounts } from './contract/ownership.ts';
import { publishingRepeats } from './contract/publishing.ts';
import { purgeForgets } from './contract/purge.ts';
import { resultsWait } from './contract/results.ts';
import { signingKeysFollow } from './contract/signing-keys.ts';
import { snapshotsStandIn } from './contract/snapshots.ts';
import { statisticsSum } from './contract/statistics.ts';
import type { ContractSubject } from './contract/subject.ts';
import { watchesAreVersioned } from './contract/watches.ts';

export function storeContract(name: string, subject: ContractSubject): void {
  describe(`${name} keeps the store contract`, () => {
    ledgerAppends(subject);
    answersKeep(subject);
    identifiersChain(subject);
    resultsWait(subject);
    publishingRepeats(subject);
    directoryLists(subject);
    countsAreExact(subject);
    exportsAreConsistent(subject);
    changesAreNumbered(subject);
    ownershipCounts(subject);
    leasesBound(subject);
    signingKeysFollow(subject);
    limitsCount(subject);
    snapshotsStandIn(subject);
    statisticsSum(subject);
    watchesAreVersioned(subject);
    censusRemembers(subject);
    censusAddsUp(subject);
    purgeForgets(subject);
  });
}
