import { Parser } from 'htmlparser2';
import { marked } from 'marked';
import { describe, expect, test } from 'vitest';
import { formatMarkdown } from '../../../src/cli/formatters/markdown.ts';
import { HOSTILE, PASSED, printable, RESULTS, UNDETERMINED } from '../printable.ts';

/** Renders GitHub's Markdown; returns its elements in order, and the text of each table cell. */
function render(markdown: string): {
  readonly tags: readonly string[];
  readonly cells: string[];
} {
  const tags: string[] = [];
  const cells: string[] = [];
  let isCell = false;
  const parser = new Parser({
    onopentagname: (name) => {
      tags.push(name);
      if (name === 'td') cells.push('');
      isCell ||= name === 'td';
    },
    onclosetag: (name) => {
      if (name === 'td') isCell = false;
    },
    ontext: (text) => {
      if (isCell) cells.push((cells.pop() ?? '') + text);
    },
  });
  parser.end(marked.parse(markdown, { async: false, gfm: true }));
  return { tags, cells };
}

describe('the report as Markdown', () => {
  test('names the parts that were not judged because a budget was used up', () => {
    const { report, ...rest } = printable();
    expect(formatMarkdown({ report, ...rest })).not.toContain('Not judged');
    const exhausted = formatMarkdown({ report: { ...report, exhausted: ['origin'] }, ...rest });
    expect(exhausted).toContain('\n\nNot judged: its documents take more processor time');
  });

  test('has the grade, the counts and a table of findings, failures first', () => {
    const printed = [UNDETERMINED, ...RESULTS.slice(0, -1)];
    const markdown = formatMarkdown(printable({ printed }));
    expect(markdown).toContain('grade F, 0/100');
    expect(markdown).toContain(
      'Protocol 0, Docs 88, Standing not determined. 1 of 5 checks passed. 1 failed, 1 not evaluated because of it.',
    );
    expect(markdown).toContain('\nNot evaluated because of P1: P2\n');
    const { cells } = render(markdown);
    expect(cells.filter((_, index) => index % 4 === 1)).toEqual([
      'P1 Check p1 (check-p1)',
      'S7 Check s7 (check-s7)',
    ]);
    expect(markdown).toContain(
      '\n\nNot determined: D1 Check d1 (check-d1): <code>x402scan was not asked',
    );
    expect(cells.slice(0, 4)).toEqual([
      'fail',
      'P1 Check p1 (check-p1)',
      'GET /: connection refused',
      'Start the server.',
    ]);
  });

  test('names the checks that --offline left out in one line', () => {
    const undetermined = ['D1', 'D2', 'D3'].map((id) => ({
      ...UNDETERMINED,
      id,
      evidence: `index of ${id}: not asked, offline (0 requests)`,
    }));
    const markdown = formatMarkdown(printable({ printed: [PASSED, ...undetermined] }));
    expect(markdown).toContain('\nNot checked because of --offline: D1 to D3\n');
    expect(markdown).not.toContain('Not determined:');
  });

  test('says "Nothing to mend." if all checks pass', () => {
    const markdown = formatMarkdown(printable({ printed: [PASSED] }));
    expect(markdown).toContain('Nothing to mend.');
    expect(render(markdown).tags).not.toContain('table');
  });

  test('renders hostile evidence unchanged: without markup, links or further cells', () => {
    const { tags, cells } = render(formatMarkdown(printable({ printed: [HOSTILE] })));
    expect(cells).toEqual(['fail', 'P3 Check p3 (check-p3)', HOSTILE.evidence, HOSTILE.fix]);
    // The heading may link to the origin. Texts of the origin must not become links.
    const inTable = tags.slice(tags.indexOf('table'));
    expect(new Set(inTable)).toEqual(
      new Set(['table', 'thead', 'tr', 'th', 'tbody', 'td', 'code']),
    );
  });

  test.each([
    '`',
    '``',
    'a ` b',
    '`a`',
    '```\n# x\n```',
    '|',
    '\\|',
    '\\',
    'ends with `',
    'www.evil.example',
    'a@b.example',
    '&lt;b&gt;',
  ])('keeps %j in its cell', (evidence) => {
    const { cells } = render(formatMarkdown(printable({ printed: [{ ...HOSTILE, evidence }] })));
    expect(cells).toHaveLength(4);
    expect(cells[2]).toBe(evidence.replaceAll(/\s+/g, ' '));
  });
});
