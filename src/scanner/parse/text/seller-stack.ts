/** Recognises the software of a seller by its answers. A fix that names a stack takes the name from this table. */
import type { HttpData } from '../../model/observation.ts';
import type { HttpObservation } from '../../model/observations.ts';
import { headerValue } from './http-header.ts';

export type SellerStack =
  | 'express'
  | 'next'
  | 'python'
  | 'go'
  | 'rust'
  | 'php'
  | 'java'
  | 'ruby'
  | 'dotnet';

type Sign = {
  readonly stack: SellerStack;
  /** Name of the header that the pattern is for; null for the body of an error. */
  readonly header: string | null;
  readonly pattern: RegExp;
};

/** Frameworks come before servers. A proxy (nginx, Cloudflare) is not in the table: it says nothing of what is behind it. */
const SIGNS: readonly Sign[] = [
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
];
const MAX_SNIFFED_CHARS = 1_024;

/** Returns null if no answer shows what the seller runs. */
export function findSellerStack(answers: readonly HttpObservation[]): SellerStack | null {
  const responses = answers.flatMap((answer) => (answer.ok ? [answer.data] : []));
  return SIGNS.find((sign) => responses.some((answer) => hasSign(answer, sign)))?.stack ?? null;
}

function hasSign(answer: HttpData, { header, pattern }: Sign): boolean {
  if (header !== null) return pattern.test(headerValue(answer, header)?.trim() ?? '');
  return answer.status >= 400 && pattern.test(answer.body.slice(0, MAX_SNIFFED_CHARS));
}
