/** S12: listings have an icon to show. Rule and sources: README.md. */
import { defineCheck, fail, notDetermined, pass, passageFix, rateLimited, warn } from '#check';
import type { Kit } from '#kit';
import type { HttpData, HttpObservation, PathAnswer } from '#model';

const FIX =
  'Serve /favicon.ico (or .png, .svg) with 200 and an image type, or name one with <link rel="icon">.';

const OUTCOMES = {
  icon: pass('Keep the icon where it is.'),
  'wrong-type': warn('Send the icon with its image type, such as image/svg+xml or image/x-icon.'),
  'rate-limited': rateLimited(),
  'other-host': notDetermined(FIX),
  'inline-only': fail(FIX),
  'no-icon': fail(FIX),
};

export default defineCheck({
  id: 'S12',
  version: 1,
  says: {
    right: 'Listings have an icon to show.',
    wrong: 'Listings have no icon to show.',
    unjudged: 'It is not known whether listings have an icon to show.',
  },
  needs: ['icons', 'soft404'],
  requires: ['P1'],
  outcomes: OUTCOMES,

  evaluate({ icons, soft404 }, kit) {
    const icon = icons.checked.find(({ answer }) => isImage(answer, kit));
    if (icon !== undefined) return ['icon', describeAnswer(icon, kit)];

    const wrongType = icons.checked.find(({ answer }) => isFile(answer, soft404, kit));
    if (wrongType !== undefined) return ['wrong-type', describeAnswer(wrongType, kit)];

    const unanswered = icons.checked.find(({ answer }) => kit.isNoAnswer(answer));
    if (unanswered !== undefined) return ['rate-limited', describeAnswer(unanswered, kit)];

    const [host] = icons.otherHosts;
    if (host !== undefined) {
      const place = `the icon is on ${kit.quote(host)}, which we do not contact`;
      return ['other-host', `${place}; this host has no /favicon.ico`];
    }
    const answers =
      icons.checked.map((icon) => describeAnswer(icon, kit)).join('; ') || 'GET / names no icon';
    if (icons.inline)
      return ['inline-only', `the only icon is a data: URL, which cannot be linked; ${answers}`];
    const favicon = icons.checked.find(({ path }) => path === '/favicon.ico')?.answer;
    const status = favicon?.ok ? favicon.data.status : null;
    return ['no-icon', answers, passageFix('/favicon.ico', status)];
  },
});

/** The media types of an answer without their parameters: "image/png". */
function formatTypes(data: HttpData, kit: Kit): string {
  const types = kit.headers(data, 'content-type').map((type) => type.split(';')[0]?.trim() ?? '');
  return types.join(', ').toLowerCase();
}

function isImage(answer: HttpObservation, kit: Kit): boolean {
  if (!answer.ok || answer.data.status !== 200) return false;
  // Some servers send the header twice.
  return kit.headers(answer.data, 'content-type').some((type) => /^\s*image\//i.test(type));
}

/** True for a 200 that is not the page that a site sends for every path. */
function isFile(answer: HttpObservation, soft404: HttpObservation, kit: Kit): boolean {
  if (!answer.ok || answer.data.status !== 200 || kit.sameBody(answer, soft404)) return false;
  const isCatchAll = soft404.ok && soft404.data.status === 200;
  // An answer to HEAD has no body to compare, so the types are compared.
  return !(isCatchAll && formatTypes(answer.data, kit) === formatTypes(soft404.data, kit));
}

function describeAnswer({ path, answer }: PathAnswer, kit: Kit): string {
  if (!answer.ok) return kit.failure(path, answer);
  const type = formatTypes(answer.data, kit);
  return `${kit.quote(path)}: ${answer.data.status}${type === '' ? '' : ` ${kit.quote(type)}`}`;
}
