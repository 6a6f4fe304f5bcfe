/** Recognises the answer that a hosting platform gives if no application runs at the name. A domain outlives its application. */
import type { HttpObservation } from '../../model/observations.ts';
import { headerValue } from './http-header.ts';

type Sign = {
  readonly platform: string;
  /** Name of the header that the pattern is for; null for the body of an error. */
  readonly header: string | null;
  readonly pattern: RegExp;
  /** The lowest status that the sign is for; 400 if omitted. */
  readonly minStatus?: number;
};

/** An application may answer 404 on the same platforms (`x-vercel-error: NOT_FOUND`), so each sign says that none runs. */
const SIGNS: readonly Sign[] = [
  { platform: 'Railway', header: 'x-railway-fallback', pattern: /^true$/i },
  { platform: 'Vercel', header: 'x-vercel-error', pattern: /^DEPLOYMENT_/ },
  { platform: 'Render', header: 'x-render-routing', pattern: /^(?:no-server|suspend)/i },
  { platform: 'ngrok', header: 'ngrok-error-code', pattern: /^ERR_NGROK_/ },
  { platform: 'Heroku', header: null, pattern: /herokucdn\.com\/error-pages\/no-such-app/ },
  { platform: 'GitHub Pages', header: null, pattern: /There isn't a GitHub Pages site here/ },
  { platform: 'Netlify', header: null, pattern: /^Not Found - Request ID: / },
  { platform: 'Azure', header: null, pattern: /<title>[^<]*404 Web Site not found/i },
  // 520 to 530 are Cloudflare's own: the server or tunnel behind it does not answer.
  { platform: 'Cloudflare', header: 'server', pattern: /^cloudflare$/i, minStatus: 520 },
  { platform: 'Deno Deploy', header: null, pattern: /^DEPLOYMENT_NOT_FOUND\b/ },
];
const MAX_SNIFFED_CHARS = 4_096;

/** Returns the name of the platform; null for every other answer. */
export function findHostingAnswer(answer: HttpObservation): string | null {
  if (!answer.ok || answer.data.status < 400) return null;
  const { data } = answer;
  const hasSign = ({ header, pattern, minStatus = 400 }: Sign): boolean =>
    data.status >= minStatus &&
    pattern.test(
      header === null
        ? data.body.slice(0, MAX_SNIFFED_CHARS)
        : (headerValue(data, header)?.trim() ?? ''),
    );
  return SIGNS.find(hasSign)?.platform ?? null;
}
