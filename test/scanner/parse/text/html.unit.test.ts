import { describe, expect, test } from 'vitest';
import { parseHtml } from '../../../../src/scanner/parse/text/html.ts';
import { expectLinear, repeat } from '../../../fixtures/cpu-cost.ts';

const MAX_BYTES = 512 * 1024;

describe('parseHtml', () => {
  test('reads anchors, links, title and meta of a page', () => {
    const facts = parseHtml(`<!doctype html><html><head>
      <TITLE> Weather &amp;
        more </TITLE>
      <meta name="Description" content="Sold &quot;here&quot;">
      <meta property=og:image content=/og.png>
      <link rel="shortcut  ICON" href="/f.ico" type="image/x-icon"/>
      <link rel=alternate href='/openapi.json?a=1&amp;b=2'>
      </head><body><a class=x href="/llms.txt">docs</a><a name=top>no</a><A HREF=/x>x</A>`);
    expect(facts.anchors).toEqual(['/llms.txt', '/x']);
    expect(facts.links).toEqual([
      { rel: ['shortcut', 'icon'], href: '/f.ico', type: 'image/x-icon' },
      { rel: ['alternate'], href: '/openapi.json?a=1&b=2', type: null },
    ]);
    expect(facts.title).toBe('Weather & more');
    expect([...facts.meta]).toEqual([
      ['description', 'Sold "here"'],
      ['og:image', '/og.png'],
    ]);
  });

  test('reads nothing in comments, scripts, styles and text areas', () => {
    const facts = parseHtml(`<!-- <a href=/1> --><script>"<a href='/2'>"</script>
      <style><a href=/3></style><textarea><a href=/4></textarea><a href=/5>`);
    expect(facts.anchors).toEqual(['/5']);
  });

  test('takes the first of two equal attributes, titles or meta names', () => {
    const facts = parseHtml(`<title>Page</title><svg><title>Picture</title></svg>
      <meta name=d content=1><meta name=D content=2><a href=/1 href=/2>`);
    expect(facts).toMatchObject({ title: 'Page', anchors: ['/1'] });
    expect(facts.meta.get('d')).toBe('1');
  });

  test('has no title if the page has none, or an empty one', () => {
    expect(parseHtml('<p>text').title).toBeNull();
    expect(parseHtml('<title> </title>text').title).toBeNull();
    expect(parseHtml('<title>open').title).toBe('open');
  });

  test('leaves out a tag that is cut off', () => {
    expect(parseHtml('<a href="/whole"><a href="/par').anchors).toEqual(['/whole']);
  });

  test('limits the length of values and of lists', () => {
    const facts = parseHtml(`<a href="${'x'.repeat(100_000)}">${'<a href=/y>'.repeat(20_000)}`);
    expect(facts.anchors[0]?.length).toBeLessThan(10_000);
    expect(facts.anchors).toHaveLength(5_000);
  });

  test.each([
    ['open tags', repeat('<b>')],
    [
      'open tags, then closing tags of another element',
      (n: number) => repeat('<b>')(n / 2) + repeat('</i>')(n / 2),
    ],
    ['angle brackets', repeat('<')],
    ['ends of tags', repeat('</')],
    ['attributes', (n: number) => `<a ${repeat('b=c ')(n)}`],
    ['one attribute', (n: number) => `<a href="${repeat('&amp;')(n)}">`],
    ['ampersands', repeat('&')],
    ['unfinished comments', repeat('<!--')],
    ['titles', repeat('<title>')],
    ['titles of blanks', (n: number) => `<title>${repeat(' ')(n)}`],
    ['quotation marks', (n: number) => `<a href=${repeat('"')(n)}`],
    ['forms', repeat('<form>')],
    ['pictures', repeat('<svg><foreignObject>')],
    ['rel tokens', (n: number) => `<link href=x rel="${repeat('a ')(n)}">`],
  ])('takes time in proportion to the length of the page: %s', (_page, createPage) => {
    expectLinear(createPage, MAX_BYTES, parseHtml);
  });
});
