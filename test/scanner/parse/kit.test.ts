import { describe, expect, test } from 'vitest';
import type { HttpObservation, OpenApiAnswer } from '../../../src/scanner/model/observations.ts';
import { createKit } from '../../../src/scanner/parse/kit/kit.ts';
import {
  answer,
  asked,
  at,
  challenge402,
  failure,
  html,
  NOT_FOUND,
  ORIGIN,
  openApiDocument,
  resource,
  resources,
} from '../../fixtures/observations/build-observations.ts';

const kit = createKit();
const PAGE = '<!doctype html><title>Shop</title><p>Welcome';

/** Reads a document. `soft404` is the answer of a random path. It is a real 404 by default. */
function readDocument(
  observation: HttpObservation,
  soft404: HttpObservation = NOT_FOUND,
  path = '/llms.txt',
) {
  return kit.document(path, asked(path, observation), asked('/random-4f1c', soft404));
}

describe('a kit', () => {
  test('is frozen, and its parsed results are frozen', () => {
    expect(Object.isFrozen(kit)).toBe(true);
    const reading = kit.json('{"a":[{"b":1}]}');
    expect(() => Object.assign(Object(Object(reading).value.a[0]), { b: 2 })).toThrow(TypeError);
    expect(Object.isFrozen(kit.html('<a href=/x>').anchors)).toBe(true);
    expect(Object.isFrozen(kit.challenge(challenge402().data).challenge?.offers[0])).toBe(true);
  });

  test('parses each text once', () => {
    for (const parse of [kit.json, kit.html, kit.markdown, kit.robots]) {
      expect(parse('{"a":1}')).toBe(parse('{"a":1}'));
    }
    expect(kit.challenge(challenge402().data)).toBe(kit.challenge(challenge402().data));
    const observations = {
      openapi: answer(200, openApiDocument()),
      openapiAlternates: [],
      soft404: NOT_FOUND,
    };
    const [reading, equalReading] = [
      kit.openapi(observations),
      kit.openapi(structuredClone(observations)),
    ];
    expect(reading.state === 'found' && reading.facts).toBe(
      equalReading.state === 'found' && equalReading.facts,
    );
  });

  test('shares nothing with another kit', () => {
    expect(createKit().json('[]')).not.toBe(kit.json('[]'));
  });

  test('tells challenges apart by header and body', () => {
    const [answered, otherAnswer] = [
      challenge402(),
      challenge402(undefined, { body: { note: 'other' } }),
    ];
    expect(kit.challenge(answered.data)).not.toBe(kit.challenge(otherAnswer.data));
  });
});

describe('document', () => {
  test.each([
    ['a document', answer(200, '# Name'), 'present', ''],
    ['an empty document', answer(200), 'present', ''],
    [
      'no answer',
      failure('timeout', 'no answer within 10 s'),
      'unreadable',
      'GET /llms.txt: timeout (no answer within 10 s)',
    ],
    ['an error', answer(404, 'no /llms.txt here'), 'absent', 'GET /llms.txt: 404'],
    ['an error page', html(500, PAGE), 'absent', 'GET /llms.txt: 500'],
    ['no content', answer(204), 'absent', 'GET /llms.txt: 204'],
    ['HTML', html(200, PAGE), 'html', 'GET /llms.txt: 200, but HTML'],
    ['HTML that is too long', html(200, PAGE, {}, { truncated: true }), 'html', 'HTML'],
    ['a text that is too long', answer(200, '# Name', {}, { truncated: true }), 'present', ''],
    ['a 429', answer(429, 'Slow down'), 'rate-limited', 'GET /llms.txt: 429'],
    ['a request that was kept back', failure('not-sent'), 'rate-limited', 'not-sent'],
    [
      'no text',
      answer(200, '', {}, { binary: true }),
      'unreadable',
      'GET /llms.txt: 200, but no text',
    ],
    [
      'a body that breaks off',
      answer(200, '# N', {}, { truncated: true, bodyFailure: 'timeout' }),
      'unreadable',
      'broke off (timeout)',
    ],
  ])('%s', (_, observation, state, evidence) => {
    const reading = readDocument(observation);
    expect(reading.state).toBe(state);
    expect('evidence' in reading ? reading.evidence : '').toContain(evidence);
  });

  test('returns answer and text of an existing document', () => {
    expect(readDocument(answer(200, '# Name'))).toMatchObject({
      path: '/llms.txt',
      body: '# Name',
      answer: { status: 200, url: `${ORIGIN}/llms.txt` },
    });
  });

  test('names the target of a redirect that was not followed, in visible characters', () => {
    const refusedRedirect = { to: 'https://other.example/\u202Ex', why: 'another origin' };
    expect(readDocument(answer(302, '', {}, { refusedRedirect }))).toMatchObject({
      state: 'absent',
      status: 302,
      evidence: 'GET /llms.txt: 302 to "https://other.example/x", not followed: another origin',
    });
  });
});

describe('sameBody', () => {
  test.each([
    ['equal bodies', answer(200, 'x'), answer(200, 'x'), true],
    ['other bodies', answer(200, 'x'), answer(200, 'y'), false],
    ['error answers, though equal', answer(404, 'x'), answer(404, 'x'), false],
    ['a page beside a real 404', answer(200, 'x'), answer(404, 'x'), false],
    ['an error beside a page', answer(404, 'x'), answer(200, 'x'), false],
    ['no answers', failure('timeout'), failure('timeout'), false],
  ])('%s', (_, observation, control, isSame) => {
    expect(kit.sameBody(observation, control)).toBe(isSame);
  });

  test.each([
    ['as it is', 'Nothing at <b>PATH</b>, sorry'],
    ['without its slash', '{"error":"no NAKED"}'],
    ['in a query', '<a href="/login?next=ENCODED">'],
    ['as PHP writes JSON', '{"path":"ESCAPED"}'],
  ])('ignores the requested path that both bodies repeat: %s', (_, template) => {
    const page = (path: string) =>
      asked(
        path,
        answer(
          200,
          template
            .replace('PATH', path)
            .replace('NAKED', path.slice(1))
            .replace('ENCODED', encodeURIComponent(path))
            .replace('ESCAPED', path.replaceAll('/', '\\/')),
        ),
      );
    expect(kit.sameBody(page('/.well-known/x402'), page('/random/4f1c'))).toBe(true);
    expect(
      kit.sameBody(page('/.well-known/x402'), asked('/random/4f1c', answer(200, template))),
    ).toBe(false);
  });

  test('ignores the requested path that a body repeats after a redirect', () => {
    const login = (path: string) => {
      const redirects = [{ url: `${ORIGIN}${path}`, status: 302, location: '/login' }];
      return answer(200, `Sign in to see ${path}`, {}, { url: `${ORIGIN}/login`, redirects });
    };
    expect(kit.sameBody(login('/llms.txt'), login('/random-4f1c'))).toBe(true);
  });
});

describe('isHtml', () => {
  test.each([
    ['a page', html(200, PAGE), true],
    ['a page under another type', answer(200, `\n ${PAGE}`), true],
    ['a page behind a comment', html(200, '<!-- built --><html>'), true],
    ['a page behind text', html(200, 'Notice\n<html><body>'), true],
    ['JSON under the type of HTML', html(200, '{"a":1}'), false],
    ['Markdown under the type of HTML', html(200, '# Name\n\n> Summary'), false],
    ['Markdown that starts with a picture', answer(200, '<img src=x>\n# Name'), false],
    ['XML', answer(200, '<?xml version="1.0"?><svg/>', { 'content-type': 'image/svg+xml' }), false],
    ['no body but the type', answer(200, '', { 'content-type': 'TEXT/HTML; charset=utf-8' }), true],
    ['no body, no type', answer(200), false],
    ['no answer', failure('dns'), false],
  ])('%s', (_, observation, isHtml) => {
    expect(kit.isHtml(observation)).toBe(isHtml);
  });
});

describe('openapi', () => {
  const alternate = (path: string, observation: HttpObservation) => [at(path, observation)];
  const find = (
    openapi: HttpObservation,
    openapiAlternates: readonly OpenApiAnswer[] = alternate('/swagger.json', NOT_FOUND),
  ) =>
    kit.openapi({
      openapi: asked('/openapi.json', openapi),
      openapiAlternates,
      soft404: NOT_FOUND,
    });
  const good = answer(200, openApiDocument());

  test('is taken from the canonical path, even if other paths have a document', () => {
    expect(find(good, alternate('/swagger.json', good))).toMatchObject({
      state: 'found',
      path: '/openapi.json',
      canonical: true,
    });
  });

  test.each([
    ['nothing', NOT_FOUND],
    ['HTML', html(200, PAGE)],
    ['other JSON', answer(200, { error: 'not found' })],
    ['Swagger 2', answer(200, { swagger: '2.0', paths: { '/x': {} } })],
    ['a document without paths', answer(200, { openapi: '3.1.0' })],
  ])('is found elsewhere if the canonical path has %s', (_, canonical) => {
    expect(find(canonical, alternate('/api/openapi.json', good))).toMatchObject({
      state: 'found',
      path: '/api/openapi.json',
      canonical: false,
    });
  });

  test('is read from the JSON of a YAML document', () => {
    const served = at('/openapi.yaml', answer(200, 'openapi: "3.1.0"\n'));
    const yaml = { json: '{"openapi":"3.1.0","paths":{"/a":{}}}' };
    expect(find(NOT_FOUND, [{ ...served, yaml }])).toMatchObject({
      ...{ state: 'found', path: '/openapi.yaml', isYaml: true, facts: { pathCount: 1 } },
    });
    expect(find(NOT_FOUND, [served]).state).toBe('none');
    expect(find(NOT_FOUND, alternate('/openapi.yaml', good))).toMatchObject({ isYaml: false });
  });

  test('has request paths below the URL from which the document came', () => {
    const document = openApiDocument({ servers: [{ url: 'v1' }] });
    const reading = find(NOT_FOUND, alternate('/api/openapi.json', answer(200, document)));
    expect(reading).toMatchObject({
      facts: { operations: [{ requestPath: '/api/v1/weather' }, {}, {}] },
    });
  });
});

test('a manifest that no path has is missing, and the evidence names both paths', () => {
  const sources = { manifest: answer(200, 'x402'), manifestJson: NOT_FOUND, soft404: NOT_FOUND };
  expect(kit.manifest(sources)).toEqual({
    state: 'none',
    evidence:
      'GET /.well-known/x402: 200, not JSON at character 1; GET /.well-known/x402.json: 404',
  });
});

describe('the words of a kit', () => {
  test('resolve a reference within the origin, without its fragment', () => {
    expect(kit.sameOrigin(ORIGIN, 'x?y=1#z')?.href).toBe(`${ORIGIN}/x?y=1`);
    expect(kit.sameOrigin(ORIGIN, 'https://other.example/x')).toBeNull();
  });

  test('quote and show values', () => {
    expect(kit.quote('a\u202E"b"')).toBe('"a\\"b\\""');
    expect(kit.quote('x'.repeat(100))).toHaveLength(82);
    expect(kit.quote('abcdef', 3)).toBe('"ab…"');
    expect(kit.show({ amount: '0.05' })).toBe('{"amount":"0.05"}');
    expect(kit.show(undefined)).toBe('missing');
  });

  test('name failures', () => {
    const tlsFailure = failure('tls-expired', 'expired on 2026-01-01');
    if (tlsFailure.ok) throw new Error('A failure is not an answer.');
    expect(kit.failure('GET /', tlsFailure)).toBe('GET /: tls-expired (expired on 2026-01-01)');
  });

  test('have headers by lower-case name', () => {
    const { data } = answer(200, 'x', { link: ['</a>', '</b>'] });
    expect(kit.header(data, 'link')).toBe('</a>');
    expect(kit.headers(data, 'link')).toEqual(['</a>', '</b>']);
    expect(kit.header(data, 'none')).toBeNull();
  });

  test('count the resources that challenged', () => {
    const challenged = kit.challenged(
      resources([resource(), resource({ path: '/free', get: answer(200), head: [] })]),
    );
    expect(challenged.map(({ resource }) => resource.path)).toEqual(['/weather']);
  });
});
