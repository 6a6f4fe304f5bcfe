import type { CheckCase } from '#check';
import type { IconSet, PathAnswer } from '#model';
import {
  answer,
  asked,
  failure,
  html,
  NOT_FOUND,
} from '../../test/fixtures/observations/build-observations.ts';

const PAGE = '<!doctype html><html><body>Our app</body></html>';

function withIcons(checked: readonly PathAnswer[], more: Partial<IconSet> = {}): CheckCase['seen'] {
  return { icons: { checked, otherHosts: [], inline: false, ...more } };
}

function toHead(path: string, status: number, type?: string): PathAnswer {
  const page = answer(status, '', type === undefined ? {} : { 'content-type': type });
  return { path, answer: asked(path, page, 'HEAD') };
}

const NO_ICONS = [
  toHead('/favicon.ico', 404),
  toHead('/favicon.png', 404),
  toHead('/favicon.svg', 404),
];
const CATCH_ALL_PAGE = asked('/d3b07384-no-such-page', html(200, PAGE));

const cases: readonly CheckCase[] = [
  {
    name: 'the root names an icon',
    seen: {},
    expect: { status: 'pass', outcome: 'icon', evidence: ['"/favicon.svg": 200 "image/svg+xml"'] },
  },
  {
    name: 'the icon that the root names answers 404, and /favicon.ico is an icon',
    seen: withIcons([toHead('/brand.png', 404), toHead('/favicon.ico', 200, 'image/x-icon')]),
    expect: { status: 'pass', outcome: 'icon', evidence: ['"/favicon.ico"'] },
  },
  {
    name: 'the type has capitals and a parameter',
    seen: withIcons([toHead('/favicon.ico', 200, 'Image/PNG; charset=binary')]),
    expect: { status: 'pass', outcome: 'icon' },
  },
  {
    name: 'the second of two types is an image',
    seen: withIcons([
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
    name: '/favicon.ico has another type',
    seen: withIcons([toHead('/favicon.ico', 200, 'application/octet-stream')]),
    expect: { status: 'warn', outcome: 'wrong-type', evidence: ['"application/octet-stream"'] },
  },
  {
    name: '/favicon.ico has no type',
    seen: withIcons([toHead('/favicon.ico', 200)]),
    expect: { status: 'warn', outcome: 'wrong-type', evidence: ['"/favicon.ico": 200'] },
  },
  {
    name: 'the root names an icon only on another host',
    seen: withIcons(NO_ICONS, { otherHosts: ['cdn.other.example'] }),
    expect: {
      status: 'warn',
      outcome: 'other-host',
      basis: 'not_determined',
      evidence: ['cdn.other.example'],
    },
  },
  {
    name: 'the only icon is a data: URL',
    seen: withIcons(NO_ICONS, { inline: true }),
    expect: { status: 'fail', outcome: 'inline-only', evidence: ['data:'] },
  },
  {
    name: 'an icon answers 429, the others 404',
    seen: withIcons([toHead('/favicon.ico', 429, 'text/plain'), ...NO_ICONS.slice(1)]),
    expect: { status: 'warn', outcome: 'rate-limited', evidence: ['"/favicon.ico": 429'] },
  },
  {
    name: 'every icon answers 404',
    seen: withIcons(NO_ICONS),
    expect: { status: 'fail', outcome: 'no-icon', evidence: ['"/favicon.ico": 404'] },
  },
  {
    name: 'a catch-all page answers HEAD for /favicon.ico',
    seen: {
      ...withIcons([toHead('/favicon.ico', 200, 'text/html; charset=utf-8')]),
      soft404: CATCH_ALL_PAGE,
    },
    expect: { status: 'fail', outcome: 'no-icon' },
  },
  {
    name: 'a catch-all page answers GET for /favicon.ico',
    seen: {
      ...withIcons([{ path: '/favicon.ico', answer: asked('/favicon.ico', html(200, PAGE)) }]),
      soft404: CATCH_ALL_PAGE,
    },
    expect: { status: 'fail', outcome: 'no-icon' },
  },
  {
    name: 'a catch-all site has an icon',
    seen: {
      ...withIcons([toHead('/favicon.ico', 200, 'image/x-icon')]),
      soft404: CATCH_ALL_PAGE,
    },
    expect: { status: 'pass', outcome: 'icon' },
  },
  {
    name: '/favicon.ico is not answered in time',
    seen: withIcons([{ path: '/favicon.ico', answer: failure('timeout') }]),
    expect: { status: 'fail', outcome: 'no-icon', evidence: ['timeout'] },
  },
  {
    name: '/favicon.ico answers 402',
    seen: withIcons([{ path: '/favicon.ico', answer: answer(402, {}) }]),
    expect: { status: 'fail', outcome: 'no-icon', evidence: ['402'] },
  },
  {
    name: 'the scan asked for no icon',
    seen: withIcons([], {}),
    expect: { status: 'fail', outcome: 'no-icon' },
  },
  {
    name: '/favicon.ico answers GET with 404',
    seen: withIcons([{ path: '/favicon.ico', answer: NOT_FOUND }]),
    expect: { status: 'fail', outcome: 'no-icon' },
  },
];

export default cases;
