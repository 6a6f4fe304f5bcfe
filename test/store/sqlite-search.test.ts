/** The embedded store's searches, each way of them. */
import { describe } from 'vitest';
import { countsAreExact } from './contract/counts.ts';
import { directoryLists } from './contract/directory.ts';
import { sqliteSubject } from './sqlite-subject.ts';

describe('where too many hosts could match to be looked at one by one', () => {
  const subject = sqliteSubject({ search: { candidates: 0, slice: 4, lookCost: 1_000 } });
  directoryLists(subject);
  countsAreExact(subject);
});

describe('where some searches look at hosts and others walk', () => {
  countsAreExact(sqliteSubject({ search: { candidates: 5, slice: 3, lookCost: 1_000 } }));
});

describe('where a walk that finds too little is given up', () => {
  countsAreExact(sqliteSubject({ search: { candidates: 2, slice: 2, lookCost: 1 } }));
});
