/** The text report, Markdown and the page name each reason of a row, and the step that mends it. */
import { expect, test } from 'vitest';
import { formatMarkdown } from '../../../src/cli/formatters/markdown.ts';
import { formatText } from '../../../src/cli/formatters/text.ts';
import {
  INDEXED_REASONS,
  type IndexedReasonCode,
  type IndexedRow,
} from '../../../src/scanner/model/indexed.ts';
import { formatIndexedRow, INDEXED_STEPS } from '../../../src/scanner/report/indexed-words.ts';
import { printable } from '../../cli/printable.ts';
import { startApp } from '../../fixtures/service/start-app.ts';

function toRow(code: IndexedReasonCode, state: IndexedRow['state'] = 'not_listed'): IndexedRow {
  const reasons = [{ code, evidence: 'what was seen', check: 'P7' }];
  const resource = 'https://api.example.com/weather';
  return {
    index: 'bazaar',
    resource,
    method: 'GET',
    state,
    listedAs: null,
    differences: [],
    reasons,
  };
}

/** Keeps only the words, because formats wrap and escape differently. */
function keepWords(text: string): string {
  return text.replaceAll(/<[^>]*>|&#?\w+;|[^A-Za-z0-9]+/g, ' ').replaceAll(/\s+/g, ' ');
}

test.each(INDEXED_REASONS)(
  'the line of a row with the reason %s names the step that mends it',
  (code) => {
    const line = formatIndexedRow(toRow(code));
    expect(line).toContain(
      `${code.replaceAll('_', ' ')} (what was seen, P7): ${INDEXED_STEPS[code]}`,
    );
  },
);

test('a lapsed row without a reason says that no reason can be seen from outside', () => {
  expect(formatIndexedRow({ ...toRow('lapsed'), reasons: [] })).toBe(
    'not listed; no reason that can be seen from outside',
  );
});

test('text, Markdown and page name the steps for a listing that lapses and a recipient that changes', async () => {
  const indexed = [toRow('lapsing', 'listed'), toRow('recipient_changes')];
  const steps = [INDEXED_STEPS.lapsing, INDEXED_STEPS.recipient_changes].map(keepWords);
  expect(steps[0]).toContain('pay test T15');

  const { report, ...rest } = printable();
  const scan = { ...rest, report: { ...report, indexed } };
  await using service = await startApp();
  await service.publish('api.example.com', { report: { indexed } });
  const page = await service.get('/o/api.example.com');
  for (const text of [formatText(scan), formatMarkdown(scan), page.body]) {
    for (const step of steps) expect(keepWords(text)).toContain(step.trim());
  }
});
