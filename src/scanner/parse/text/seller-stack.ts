/** Recognises by an answer what software sent it: the seller's stack, or a hosting platform that has no application. */
import type { HttpData } from '../../model/observation.ts';
import type { HttpObservation } from '../../model/observations.ts';
import { headerValue } from './http-header.ts';

type Sign = {
  /** Name of the header that the pattern is for; null for the body of an error. */
  readonly header: string | null;
  readonly pattern: RegExp;
};

/**
 * Frameworks come before servers. A proxy (nginx, Cloudflare) is not in the table: it says nothing of what is behind it.
 * A fix that names a stack takes the name from this table.
 */
const STACK_SIGNS = [
  { stack: 'next', header: 'x-powered-by', pattern: /^next\.js/i },
  { stack: 'express', header: 'x-powered-by', pattern: /^express/i },
  { stack: 'php', header: 'x-powered-by', pattern: /^php\b/i },
  { stack: 'dotnet', header: 'x-powered-by', pattern: /^asp\.net/i },
  { stack: 'java', header: 'x-powered-by', pattern: /^(?:servlet|jsp|undertow)/i },
  {
    stack: 'python',
    header: 'server',
    pattern: /^(?:uvicorn|hypercorn|granian|daphne|gunicorn|werkzeug|waitress|tornado)/i,
  },
  { stack: 'dotnet', header: 'server', pattern: /^kestrel/i },
  { stack: 'java', header: 'server', pattern: /^(?:jetty|apache-coyote|apache tomcat)/i },
  { stack: 'ruby', header: 'server', pattern: /^(?:puma|webrick|thin|phusion passenger)/i },
  { stack: 'go', header: 'x-powered-by', pattern: /^(?:gin|echo|fiber|go)\b/i },
  { stack: 'go', header: 'server', pattern: /^(?:go\b|gin\b|fiber\b|fasthttp|beego)/i },
  { stack: 'rust', header: 'server', pattern: /^(?:axum|actix|hyper|rocket|warp)\b/i },
  { stack: 'go', header: null, pattern: /^404 page not found\n?$/ },
  { stack: 'python', header: null, pattern: /^\{"detail":"(?:Not Found|Method Not Allowed)"\}$/ },
  { stack: 'express', header: null, pattern: /<pre>Cannot GET \/|^\{"message":"Cannot GET \// },
  {
    stack: 'java',
    header: null,
    pattern: /^\{"timestamp":.{1,80}"status":404,"error":"Not Found"/,
  },
] as const satisfies readonly (Sign & { readonly stack: string })[];
export type SellerStack = (typeof STACK_SIGNS)[number]['stack'];
const MAX_STACK_CHARS = 1_024;

/** Returns null if no answer shows what the seller runs. */
export function findSellerStack(answers: readonly HttpObservation[]): SellerStack | null {
  const responses = answers.flatMap((answer) => (answer.ok ? [answer.data] : []));
  const sign = STACK_SIGNS.find((each) =>
    responses.some((answer) => hasSign(answer, each, MAX_STACK_CHARS)),
  );
  return sign?.stack ?? null;
}

function hasSign(answer: HttpData, { header, pattern }: Sign, maxBodyChars: number): boolean {
  if (header !== null) return pattern.test(headerValue(answer, header)?.trim() ?? '');
  return answer.status >= 400 && pattern.test(answer.body.slice(0, maxBodyChars));
}

type HostingSign = Sign & {
  readonly platform: string;
  /** The lowest status that the sign is for; 400 if omitted. */
  readonly minStatus?: number;
};

/** Signs that no application runs. A running application may cause `x-vercel-error: NOT_FOUND`, so it is not listed. */
const HOSTING_SIGNS: readonly HostingSign[] = [
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
const MAX_HOSTING_CHARS = 4_096;

/**
 * Returns the hosting platform that answered because no application runs at the domain any more. Returns null for every
 * other answer.
 */
export function findHostingAnswer(answer: HttpObservation): string | null {
  if (!answer.ok) return null;
  const { data } = answer;
  const sign = HOSTING_SIGNS.find(
    (each) => data.status >= (each.minStatus ?? 400) && hasSign(data, each, MAX_HOSTING_CHARS),
  );
  return sign?.platform ?? null;
}
