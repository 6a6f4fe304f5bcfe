/** S12: listings have an icon to show. Rule and sources: README.md. */
import { defineCheck } from '../../src/engine/define-check.ts';
import type { HttpData } from '../../src/model/observation.ts';
import type { HttpObservation, PathAnswer } from '../../src/model/observations.ts';
import { fail, notDetermined, pass, warn } from '../../src/model/verdict.ts';
import type { Kit } from '../../src/parse/kit/kit.ts';

const FIX =
  'Serve /favicon.ico (or .png, .svg) with 200 and an image type, or name one by <link rel="icon">.';
const TYPE_FIX = 'Send the icon with its image type, such as image/svg+xml or image/x-icon.';

export default defineCheck({
  id: 'S12',
  version: 1,
  needs: ['icons', 'soft404'],
  requires: ['P1'],
  outcomes: ['icon', 'wrong-type', 'other-host', 'inline-only', 'no-icon'],

  evaluate({ icons, soft404 }, kit) {
    const found = icons.checked.find(({ answer }) => isImage(answer, kit));
    if (found !== undefined)
      return pass('icon', describe(found, kit), 'Keep the icon where it is.');

    const odd = icons.checked.find(({ answer }) => isFile(answer, soft404, kit));
    if (odd !== undefined) return warn('wrong-type', describe(odd, kit), TYPE_FIX);

    const [host] = icons.otherHosts;
    if (host !== undefined) {
      const evidence = `the icon is on ${kit.quote(host)}, which we do not contact; no /favicon.ico here`;
      return notDetermined('other-host', evidence, FIX);
    }
    const seen =
      icons.checked.map((one) => describe(one, kit)).join('; ') || 'GET /: no icon named';
    if (icons.inline) return fail('inline-only', `a data: icon cannot be linked; ${seen}`, FIX);
    return fail('no-icon', seen, FIX);
  },
});

function typeOf(data: HttpData, kit: Kit): string {
  return kit.header(data, 'content-type')?.split(';')[0]?.trim().toLowerCase() ?? '';
}

function isImage(answer: HttpObservation, kit: Kit): boolean {
  return answer.ok && answer.data.status === 200 && typeOf(answer.data, kit).startsWith('image/');
}

/** A file of another type; the page that a site gives to any path is no file. */
function isFile(answer: HttpObservation, soft404: HttpObservation, kit: Kit): boolean {
  if (!answer.ok || answer.data.status !== 200 || kit.sameBody(answer, soft404)) return false;
  const isCatchAll = soft404.ok && soft404.data.status === 200;
  // HEAD shows no body to compare: on a catch-all site the type tells.
  return !(isCatchAll && typeOf(answer.data, kit) === typeOf(soft404.data, kit));
}

function describe({ path, answer }: PathAnswer, kit: Kit): string {
  if (!answer.ok) return kit.failure(path, answer);
  const type = typeOf(answer.data, kit);
  return `${kit.quote(path)}: ${answer.data.status}${type === '' ? '' : ` ${kit.quote(type)}`}`;
}
