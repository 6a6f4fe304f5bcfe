/** The schema of what lists are read from: the listed hosts in every order, and their counters. */

/**
 * `listed` has one slim row for each host that is published and not opted out, written in the
 * transaction that changes what it is made of (`listed-rows.ts`). Times and scores are negative, so
 * that every order is ascending in all its columns and can be walked from both ends. `proved` is 1
 * where there is a confirm, be it over a year old or not: that depends on when the question is put.
 */
export const LISTED_SCHEMA = `
  DROP INDEX records_by_time;
  DROP INDEX records_by_grade;
  DROP INDEX records_by_grade_and_time;
  DROP INDEX records_by_category_and_time;
  DROP INDEX records_by_category_and_grade;
  DROP TABLE host_trigrams;
  DROP TABLE host_ngrams;

  CREATE TABLE listed (
    id INTEGER PRIMARY KEY, host TEXT NOT NULL, recency INTEGER NOT NULL, grade TEXT NOT NULL,
    rank INTEGER NOT NULL, category TEXT NOT NULL, confirmed_at_ms INTEGER
  ) STRICT;
  CREATE INDEX listed_recent ON listed (recency, host);
  CREATE INDEX listed_grade ON listed (grade, rank, recency, host);
  CREATE INDEX listed_category_recent ON listed (category, recency, host);
  CREATE INDEX listed_category_grade ON listed (category, grade, rank, recency, host);
  CREATE INDEX listed_proved_recent ON listed (recency, host, confirmed_at_ms)
    WHERE confirmed_at_ms IS NOT NULL;
  CREATE INDEX listed_proved_grade ON listed (grade, rank, recency, host, confirmed_at_ms)
    WHERE confirmed_at_ms IS NOT NULL;
  CREATE INDEX listed_proved_category_recent ON listed (category, recency, host, confirmed_at_ms)
    WHERE confirmed_at_ms IS NOT NULL;
  CREATE INDEX listed_proved_category_grade
    ON listed (category, grade, rank, recency, host, confirmed_at_ms)
    WHERE confirmed_at_ms IS NOT NULL;
  CREATE INDEX listed_by_proof ON listed (confirmed_at_ms, category, host)
    WHERE confirmed_at_ms IS NOT NULL;
  CREATE INDEX listed_best ON listed (recency, host) WHERE grade = 'A';

  CREATE TABLE listed_counts (
    category TEXT NOT NULL, grade TEXT NOT NULL, proved INTEGER NOT NULL, n INTEGER NOT NULL,
    PRIMARY KEY (category, grade, proved)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE ngram_counts (
    ngram TEXT NOT NULL, category TEXT NOT NULL, proved INTEGER NOT NULL, n INTEGER NOT NULL,
    PRIMARY KEY (ngram, category, proved)
  ) STRICT, WITHOUT ROWID;
  CREATE VIRTUAL TABLE host_trigrams USING fts5(
    host, content='', columnsize=0, detail=none, tokenize='trigram case_sensitive 1');
`;

/**
 * Runs of three characters and more that many listed hosts have: longer runs are counted beside the n-grams
 * as far as both of their shorter halves are here (`common-runs.ts`).
 */
export const COMMON_RUNS_SCHEMA = `
  CREATE TABLE common_runs (run TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
`;

/**
 * `listed_marks` has a row for each listed host that was ever proved or hides its branding, by the number of its
 * record: a page of many hosts finds there what a single host is looked up for under its name.
 */
export const LISTED_MARKS_SCHEMA = `
  CREATE TABLE listed_marks (
    id INTEGER PRIMARY KEY, confirmed_at_ms INTEGER, suppressed INTEGER NOT NULL
  ) STRICT;
`;
