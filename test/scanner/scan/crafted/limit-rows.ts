/** Sellers that answer the scanner with 429, or with documents over its limits. Honest ones lose little; nobody gains. */
import { OPENAPI_ALTERNATES } from '../../../../src/scanner/probe/first-wave.ts';
import type { CraftedAnswer } from '../../../fixtures/origins/crafted-answer.ts';
import {
  editDocument,
  json,
  NOT_FOUND_ANSWER,
  plain,
  type Row,
  UNREAD_OPENAPI_CELLS,
  UNSEEN_CELLS,
} from './row.ts';

export type LimitRow = Row & {
  /** The first line of the report. */
  readonly answerLine: RegExp;
};

const TOO_MANY: CraftedAnswer = { status: 429, headers: { 'retry-after': '60' }, body: {} };
const MIB = 1_048_576;
const NOTHING = json(`{"openapi":"3.1.0","x":"${'x'.repeat(8 * MIB)}"}`);
/** Nine aliases of nine aliases, nine levels deep: 387 million values in 400 bytes. */
const LAUGHS = Array.from({ length: 9 }, (_, i) =>
  i === 0
    ? 'openapi: &a0 [ha]'
    : `a${i}: &a${i} [${Array(9)
        .fill(`*a${i - 1}`)
        .join(', ')}]`,
).join('\n');
const NO_DOCUMENTS = {
  ...Object.fromEntries(OPENAPI_ALTERNATES.map((path) => [path, NOT_FOUND_ANSWER])),
  '/openapi.json': NOT_FOUND_ANSWER,
  '/.well-known/x402': NOT_FOUND_ANSWER,
  '/llms.txt': NOT_FOUND_ANSWER,
};

/** In each of these nobody could be judged, so the score is at most 64. */
export const UNJUDGED_ROWS: readonly LimitRow[] = [
  {
    name: '429 to the scanner alone on every paid route',
    answers: { '/weather': TOO_MANY, 'POST /summaries': TOO_MANY, '/summaries': TOO_MANY },
    moved: ['P2 warn rate-limited', ...UNSEEN_CELLS, 'S5 warn unseen'],
    says: { P2: '2 of 2 not known: 429' },
    answerLine: /^Not known: .* limits how often it may be asked/,
  },
  {
    name: 'an 8 MiB document of nothing, and no other document',
    answers: { ...NO_DOCUMENTS, '/openapi.json': NOTHING },
    moved: [
      'P2 warn unread',
      ...UNSEEN_CELLS,
      'S1 warn over-limit',
      ...UNREAD_OPENAPI_CELLS,
      'S5 warn unseen',
      'S6 fail absent',
      'S7 fail absent',
      'S11 pass no-links',
    ],
    answerLine: /^Not known: not every document of /,
  },
  {
    name: 'YAML whose aliases multiply, and no other document',
    answers: { ...NO_DOCUMENTS, '/openapi.yaml': plain(LAUGHS) },
    moved: [
      'P2 warn unread',
      ...UNSEEN_CELLS,
      'S1 warn over-limit',
      ...UNREAD_OPENAPI_CELLS,
      'S5 warn unseen',
      'S6 fail absent',
      'S7 fail absent',
      'S11 pass no-links',
    ],
    says: { S1: 'over 20000 values' },
    answerLine: /^Not known: not every document of /,
  },
];

/** These sellers are judged by what is known. */
export const JUDGED_ROWS: readonly Row[] = [
  {
    name: '429 on one of two paid routes',
    answers: { '/weather': TOO_MANY },
    moved: [],
    says: { P2: '1 of 2 not known: 429' },
  },
  {
    name: 'an OpenAPI document of 4 MiB',
    answers: {
      '/openapi.json': editDocument((document) => ({ ...document, 'x-note': 'x'.repeat(4 * MIB) })),
    },
    moved: [],
  },
  {
    name: 'a long llms.txt',
    answers: {
      '/llms.txt': (_, usual) => ({ ...usual, body: `${usual.body}\n${'text\n'.repeat(200_000)}` }),
    },
    moved: [],
  },
];
