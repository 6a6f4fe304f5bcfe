import type { CheckCase } from '../../src/engine/define-check.ts';
import type { IconSet, PathAnswer } from '../../src/model/observations.ts';
import {
  answer,
  asked,
  failure,
  html,
  NOT_FOUND,
} from '../../test/fixtures/observations/build-observations.ts';

const PAGE = '<!doctype html><html><body>Our app</body></html>';

function icons(checked: readonly PathAnswer[], more: Partial<IconSet> = {}): CheckCase['seen'] {
  return { icons: { checked, otherHosts: [], inline: false, ...more } };
}

function head(path: string, status: number, type?: string): PathAnswer {
  const given = answer(status, '', type === undefined ? {} : { 'content-type': type });
  return { path, answer: asked(path, given, 'HEAD') };
}

const NONE = [head('/favicon.ico', 404), head('/favicon.png', 404), head('/favicon.svg', 404)];
const catchAll = asked('/d3b07384-no-such-page', html(200, PAGE));

const cases: readonly CheckCase[] = [
  {
    name: 'an icon that the root names',
    seen: {},
    expect: { status: 'pass', outcome: 'icon', evidence: ['"/favicon.svg": 200 "image/svg+xml"'] },
  },
  {
    name: 'the named icon is dead, /favicon.ico is there',
    seen: icons([head('/brand.png', 404), head('/favicon.ico', 200, 'image/x-icon')]),
    expect: { status: 'pass', outcome: 'icon', evidence: ['"/favicon.ico"'] },
  },
  {
    name: 'type in capitals, with a parameter',
    seen: icons([head('/favicon.ico', 200, 'Image/PNG; charset=binary')]),
    expect: { status: 'pass', outcome: 'icon' },
  },
  {
    name: 'two types in one answer, the second an image',
    seen: icons([
      {
        path: '/favicon.png',
        answer: asked(
          '/favicon.png',
          answer(
            200,
            '',
            {},
            {
              headers: [
                ['content-type', 'text/html; charset=utf-8'],
                ['content-type', 'image/png'],
              ],
            },
          ),
          'HEAD',
        ),
      },
    ]),
    expect: { status: 'pass', outcome: 'icon', evidence: ['image/png'] },
  },
  {
    name: 'another type',
    seen: icons([head('/favicon.ico', 200, 'application/octet-stream')]),
    expect: { status: 'warn', outcome: 'wrong-type', evidence: ['"application/octet-stream"'] },
  },
  {
    name: 'no type at all',
    seen: icons([head('/favicon.ico', 200)]),
    expect: { status: 'warn', outcome: 'wrong-type', evidence: ['"/favicon.ico": 200'] },
  },
  {
    name: 'on another host only',
    seen: icons(NONE, { otherHosts: ['cdn.other.example'] }),
    expect: {
      status: 'warn',
      outcome: 'other-host',
      basis: 'not_determined',
      evidence: ['cdn.other.example'],
    },
  },
  {
    name: 'a data: icon only',
    seen: icons(NONE, { inline: true }),
    expect: { status: 'fail', outcome: 'inline-only', evidence: ['data:'] },
  },
  {
    name: 'none',
    seen: icons(NONE),
    expect: { status: 'fail', outcome: 'no-icon', evidence: ['"/favicon.ico": 404'] },
  },
  {
    name: 'a catch-all page in its place, seen by HEAD',
    seen: {
      ...icons([head('/favicon.ico', 200, 'text/html; charset=utf-8')]),
      soft404: catchAll,
    },
    expect: { status: 'fail', outcome: 'no-icon' },
  },
  {
    name: 'a catch-all page in its place, seen by GET',
    seen: {
      ...icons([{ path: '/favicon.ico', answer: asked('/favicon.ico', html(200, PAGE)) }]),
      soft404: catchAll,
    },
    expect: { status: 'fail', outcome: 'no-icon' },
  },
  {
    name: 'a catch-all site with a real icon',
    seen: { ...icons([head('/favicon.ico', 200, 'image/x-icon')]), soft404: catchAll },
    expect: { status: 'pass', outcome: 'icon' },
  },
  {
    name: 'no answer, and no root to name one',
    seen: icons([{ path: '/favicon.ico', answer: failure('timeout') }]),
    expect: { status: 'fail', outcome: 'no-icon', evidence: ['timeout'] },
  },
  {
    name: 'an icon that is for sale is not an icon',
    seen: icons([{ path: '/favicon.ico', answer: answer(402, {}) }]),
    expect: { status: 'fail', outcome: 'no-icon', evidence: ['402'] },
  },
  {
    name: 'nothing was asked for: nothing but the root answers with an error',
    seen: icons([], {}),
    expect: { status: 'fail', outcome: 'no-icon' },
  },
  {
    name: 'an error answer as a page',
    seen: icons([{ path: '/favicon.ico', answer: NOT_FOUND }]),
    expect: { status: 'fail', outcome: 'no-icon' },
  },
];

export default cases;
