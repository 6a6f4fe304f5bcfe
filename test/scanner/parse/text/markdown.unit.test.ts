import { describe, expect, test } from 'vitest';
import { parseMarkdown } from '../../../../src/scanner/parse/text/markdown.ts';
import { expectLinear, repeat } from '../../../fixtures/cpu-cost.ts';

const MAX_BYTES = 512 * 1024;

const LLMS_TXT = `# Weather

> Weather by city, paid per call.

Some *text* with [a link](https://other.example/x "Title").

## Docs

- [OpenAPI](/openapi.json): all operations
- [Terms](/terms.txt)

## Optional

1. <https://seller.example/more>

## Contact

Write to us.
`;

describe('parseMarkdown', () => {
  test('reads heading, summary, link lists and links of an llms.txt', () => {
    expect(parseMarkdown(LLMS_TXT)).toEqual({
      leadH1: 'Weather',
      summary: 'Weather by city, paid per call.',
      linkLists: 2,
      links: [
        'https://other.example/x',
        '/openapi.json',
        '/terms.txt',
        'https://seller.example/more',
      ],
      endpointLinks: [],
    });
  });

  test.each([
    ['- [Verify](/verify): POST with a body', ['/verify']],
    ['- [POST /verify](/verify)', ['/verify']],
    ['1. `DELETE` <https://seller.example/x>', ['https://seller.example/x']],
    ['- [Verify](/verify): takes a body,\n  sent by PUT', ['/verify']],
    ['| PATCH | [/users](/users) |', ['/users']],
    ['- [Quote](/quote): GET or POST', []],
    ['- [Post](/blog/POST/1): a blog post', []],
    ['- [Verify](/verify) (POST-only)', ['/verify']],
    ['- [Verify](/verify): POST\n- [Docs](/docs)', ['/verify']],
    ['- [Verify](/verify): POST\n\nSee [docs](/docs).', ['/verify']],
    ['- Send POST:\n## Docs [a](/a)', []],
    ['Send POST to [the API](/api).', []],
  ])('the links of %j to call by a method other than GET are %j', (text, links) => {
    expect(parseMarkdown(text).endpointLinks).toEqual(links);
  });

  test.each([
    ['# Name', 'Name'],
    ['\uFEFF\n\n   # Name ##\r\nx', 'Name'],
    ['# C#', 'C#'],
    ['#\tName', 'Name'],
    ['text\n# Name', null],
    ['#Name', null],
    ['#', null],
    ['## Name', null],
    ['    # Name', null],
    ['Name\n====', null],
    ['---\ntitle: x\n---\n# Name', null],
    ['```\n```\n# Name', null],
    ['<h1>Name</h1>', null],
    ['', null],
  ])('the lead H1 of %j is %j', (text, heading) => {
    expect(parseMarkdown(text).leadH1).toBe(heading);
  });

  test.each([
    ['# N\n> one\n> two\n\n> three', 'one two'],
    ['# N\ntext\n\n> late', 'late'],
    ['# N\n>', null],
    ['# N\n## S\n> below', null],
    ['# N', null],
  ])('the summary of %j is %j', (text, summary) => {
    expect(parseMarkdown(text).summary).toBe(summary);
  });

  test.each([
    ['## S\n- [a](/a)', 1],
    ['## S\n* [a](/a)\n## T\n+ <https://x.example>', 2],
    ['## S\n- a\n  [b](/b)', 1],
    ['## S\n- [a](/a)\n- [b](/b)\n### T\n- [c](/c)', 1],
    ['## S\n### T\n- [c](/c)', 1],
    ['# S\n- [a](/a)', 0],
    ['## S\n[a](/a)', 0],
    ['## S\n- a\n\n[a](/a)', 0],
    ['## S\n- https://bare.example', 0],
    ['## S\n```\n- [a](/a)\n```', 0],
    ['## S\n# T\n- [a](/a)', 0],
  ])('%j has %i link lists', (text, linkLists) => {
    expect(parseMarkdown(text).linkLists).toBe(linkLists);
  });

  test.each([
    ['[a](/b)', ['/b']],
    ['[a]( /b )', ['/b']],
    ['[a](</b c>)', ['/b c']],
    ['[a](/b "t")', ['/b']],
    ["[a](/b 't')", ['/b']],
    ['[a](/b (t))', ['/b']],
    ['[a](/b_(c))', ['/b_(c)']],
    ['[a](/b)[c](/d)', ['/b', '/d']],
    ['[a [b] c](/d)', ['/d']],
    ['[one\ntwo](/a)', ['/a']],
    ['## [a](/b)', ['/b']],
    ['> [a](/b)', ['/b']],
    ['[![badge](/i.png)](/b)', ['/b']],
    ['![image](/i.png)', []],
    ['[a](/b c)', []],
    ['[a](/b', []],
    ['[a]()', []],
    ['[a] (/b)', []],
    ['a](/b)', []],
    ['\\[a](/b)', []],
    ['[a\\](/b)', []],
    ['[one\n\ntwo](/a)', []],
    ['`[a](/b)`', []],
    ['``[a](/b)` ``', []],
    ['`[a](/b)', ['/b']],
    ['<https://a.example>', ['https://a.example']],
    ['<mailto:a@b.example>', []],
    ['<https://a.example b>', []],
    ['<b>https://a.example</b>', []],
    ['https://a.example', []],
    ['```\n[a](/b)\n```\n[c](/d)', ['/d']],
    ['~~~ md\n[a](/b)\n```\n~~~\n[c](/d)', ['/d']],
    ['````\n```\n[a](/b)\n````\n[c](/d)', ['/d']],
    ['```\n[a](/b)', []],
    ['``` `x` [a](/b)', ['/b']],
    ['- item\n  ```\n  [a](/b)\n  ```\n  [c](/d)', ['/d']],
  ])('the links of %j are %j', (text, links) => {
    expect(parseMarkdown(text).links).toEqual(links);
  });

  test.each([
    ['opening brackets', repeat('[')],
    ['closing brackets', repeat('](')],
    ['brackets of both kinds', repeat('[](')],
    ['brackets with targets that go on', (n: number) => repeat('[')(n / 3) + repeat('](a')(n)],
    ['targets in angle brackets', (n: number) => repeat('[')(n / 4) + repeat('](<a')(n)],
    ['titles that go on', (n: number) => repeat('[')(n / 5) + repeat('](a "')(n)],
    ['angle brackets', repeat('<')],
    ['unfinished addresses', repeat('<https:a')],
    ['backticks', repeat('`')],
    ['runs of backticks', createBacktickRuns],
    ['heading marks and blanks', (n: number) => `# ${repeat(' ')(n)}\u2028`],
    ['closing heading marks', (n: number) => `# a${repeat(' #')(n)}`],
    ['fence marks', (n: number) => `${repeat('`')(n)}\u2028`],
    ['quote marks', repeat('> ')],
    ['fences', repeat('```\n')],
    ['line ends', repeat('\r')],
    ['backslashes', repeat('\\')],
    ['blanks', (n: number) => `[a](${repeat(' ')(n)}`],
    ['list marks', repeat('- ')],
  ])('takes time in proportion to the length of the text: %s', (_text, createText) => {
    expectLinear(createText, MAX_BYTES, parseMarkdown);
  });
});

/** Returns runs of backticks, each with another length, so that no run closes another. */
function createBacktickRuns(length: number): string {
  let text = '';
  for (let run = 1; text.length < length; run += 1) text += `${'`'.repeat(run)} `;
  return text;
}
