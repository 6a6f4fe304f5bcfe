/** Icons, by HEAD first: GET decides where HEAD is answered by anything but a success. */
import type { HttpObservation, IconSet, PathAnswer } from '../model/observations.ts';
import type { RequestCache } from './client/request-cache.ts';
import type { IconPlan } from './plan/find-icons.ts';

const ICON_CAP_BYTES = 64 * 1024;
const ACCEPT_ICON = 'image/*, */*;q=0.5';

export async function askIcons(
  cache: RequestCache,
  plan: IconPlan,
): Promise<readonly PathAnswer[]> {
  return Promise.all(
    plan.paths.map(async (path) => ({
      path,
      answer: await cache.ask({
        method: 'HEAD',
        path,
        capBytes: ICON_CAP_BYTES,
        accept: ACCEPT_ICON,
        redirects: 'none',
      }),
    })),
  );
}

export async function settleIcons(
  cache: RequestCache,
  plan: IconPlan,
  answers: readonly PathAnswer[],
): Promise<IconSet> {
  const hasImage = answers.some(({ answer }) => answer.ok && isImage(answer));
  const checked = await Promise.all(
    answers.map(async ({ path, answer }) => {
      if (hasImage || !needsGet(answer)) return { path, answer };
      const second = await cache.ask({
        method: 'GET',
        path,
        capBytes: ICON_CAP_BYTES,
        accept: ACCEPT_ICON,
        redirects: 'same-origin',
      });
      return { path, answer: second };
    }),
  );
  return { checked, otherHosts: plan.otherHosts, inline: plan.inline };
}

/** Some routers answer 404 to every HEAD. Where no answer came at all, a GET would wait as long. */
function needsGet(answer: HttpObservation): boolean {
  return answer.ok && (answer.data.status < 200 || answer.data.status > 299);
}

/** An icon: 200 with an image type. */
export function isImage(answer: HttpObservation & { readonly ok: true }): boolean {
  return (
    answer.data.status === 200 &&
    answer.data.headers.some(([name, value]) => name === 'content-type' && /^image\//i.test(value))
  );
}
