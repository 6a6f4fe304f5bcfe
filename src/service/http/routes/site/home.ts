import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Static, Type } from 'typebox';
import { toServiceError } from '../../../../../plugins/error-answers.ts';
import { formatPrice } from '../../../../../plugins/offers.ts';
import { OriginRefused } from '../../../../scanner/guard/failures.ts';
import { readMembers } from '../../../../scanner/model/json.ts';
import { type PreflightTarget, readPreflightTarget } from '../../../../scanner/preflight/result.ts';
import { DOCUMENT_OFFER } from '../../../config/revision.ts';
import { readFrontPage, toProject } from '../../../directory/project.ts';
import { Forbidden, UnsupportedMediaType } from '../../../errors/errors.ts';
import { toClient } from '../../../turns/client-key.ts';
import { PATHS } from '../../documents/service-facts.ts';
import type { AnswerView } from '../../pages/home-page.ts';
import type { RouteContext } from '../route-context.ts';

/** This module is loaded at the first request, because it imports the parsers of offers. */
const importHomePage = () => import('../../pages/home-page.ts');

/** Parameters of the directory, which was once part of the front page. Old links with them are redirected. */
const querystring = Type.Object({
  q: Type.Optional(Type.String({ maxLength: 253 })),
  page: Type.Optional(Type.String({ pattern: '^\\d{1,6}$' })),
});

export const homeRoute: FastifyPluginAsyncTypebox<RouteContext> = async (app, parts) => {
  const sendHome = createHomeSender(parts);
  app.get(
    '/',
    { config: { offer: DOCUMENT_OFFER }, schema: { hide: true, querystring } },
    async ({ query }, reply) => {
      const isDirectoryLink = query.q !== undefined || query.page !== undefined;
      if (!isDirectoryLink) return sendHome(reply, '', null);
      const parameters = new URLSearchParams(Object.entries(query));
      return reply.redirect(`/directory?${parameters}`, 301);
    },
  );
  await app.register(answerRoute, { ...parts, sendHome });
};

/** The page shows far fewer changes: most changes are rescans, and the page leaves these out. */
const MAX_READ_CHANGES = 100;
/** With this Link header, an agent that knows only the host finds the documents. */
const LINK_HEADER = `<${PATHS.openapi}>; rel="service-desc", <${PATHS.llms}>; rel="describedby"`;

function createHomeSender({ config, store }: RouteContext) {
  const { revision } = config;
  const scanPrice = formatPrice(revision.offers.scan);
  const hasMcp = revision.offers.mcp !== undefined;

  return async (reply: FastifyReply, typedUrl: string, answer: AnswerView | null) => {
    reply.header('link', LINK_HEADER);
    const [{ count, records }, gradeCounts, changes] = await Promise.all([
      readFrontPage(store.directory),
      store.directory.countByGrade(),
      store.changes.findNewest(MAX_READ_CHANGES),
    ]);
    const nowMs = store.now();
    const projects = records.map((record) => toProject(record, config, nowMs));
    const { toHomePage } = await importHomePage();
    const list = { count, projects, gradeCounts, changes };
    return reply.view('home', toHomePage({ ...list, scanPrice, hasMcp, typedUrl, answer }));
  };
}

type AnswerOptions = RouteContext & { readonly sendHome: ReturnType<typeof createHomeSender> };

const FORM_TYPE = 'application/x-www-form-urlencoded';
const PREFLIGHT_PATH = '/v1/preflight';

const formSchema = Type.Object({
  url: Type.String({ maxLength: 2_048 }),
  /** Set by the page's script, which needs only the part of the page with the answer. */
  fragment: Type.Optional(Type.Literal('true')),
});

type FormFields = Static<typeof formSchema>;

/** Answers the form of the front page: redirects to the report of a listed host, or judges another one by a preflight. */
const answerRoute: FastifyPluginAsyncTypebox<AnswerOptions> = async (app, options) => {
  const { config, sendHome } = options;
  const offer = config.revision.offers.preflight;
  const countPreflight = offer && app.createRouteCounter?.(PREFLIGHT_PATH, offer, () => false);
  // Only this route takes a form; every other route takes JSON.
  app.addContentTypeParser<string>(FORM_TYPE, { parseAs: 'string' }, ({ headers }, text, done) => {
    const { 'content-encoding': encoding = 'identity' } = headers;
    if (encoding.toLowerCase() !== 'identity') return done(new UnsupportedMediaType());
    done(null, Object.fromEntries(new URLSearchParams(text)));
  });

  async function send(reply: FastifyReply, { url, fragment }: FormFields, answer: AnswerView) {
    reply.header('cache-control', 'no-store');
    if (fragment !== undefined) return reply.view('answer', answer);
    return sendHome(reply, url, answer);
  }

  app.post(
    '/',
    {
      config: { offer: DOCUMENT_OFFER },
      schema: { hide: true, body: formSchema },
      onRequest: async (request) => refuseForeignForm(request, options),
      preHandler: countPreflight ? [countPreflight] : [],
      errorHandler: async (error, request, reply) => {
        const { status, message, retryAfterSec } = toServiceError(error, request);
        if (status >= 500) throw error;
        if (retryAfterSec !== null) reply.header('retry-after', retryAfterSec);
        const form = readFields(request.body);
        return send(reply.code(status), form, { problem: message, search: null });
      },
    },
    async ({ body: form, ip }, reply) => {
      let target: PreflightTarget;
      try {
        target = readPreflightTarget(form.url, config.originPolicy);
      } catch (error) {
        if (!(error instanceof OriginRefused)) throw error;
        return send(reply.code(400), form, toProblem(error, form.url.trim()));
      }
      const { host } = target.origin;
      const record = await options.store.directory.get(host);
      // A revision without preflights sends the visitor to the report page in any case.
      if (record?.listed === true || offer === undefined) {
        const reportPage = `/o/${host}`;
        if (form.fragment === undefined) return reply.redirect(reportPage, 303);
        return reply.code(204).header('location', reportPage).send();
      }
      return send(reply, form, await answerByPreflight(target, ip, options));
    },
  );
};

/** Refuses forms on other sites, because such a form could use up the rate limit of the visitor. */
function refuseForeignForm(
  { headers, host }: FastifyRequest,
  { config: { baseUrl, siteUrl } }: Pick<RouteContext, 'config'>,
): void {
  // If the browser sends no Sec-Fetch-Site, Origin decides. Origin is "null" for a form on a page with `no-referrer`.
  const { origin = 'null', 'sec-fetch-site': site = '' } = headers;
  const ownHosts = [host, new URL(baseUrl).host, new URL(siteUrl).host];
  const hasOwnOrigin = origin === 'null' || ownHosts.includes(URL.parse(origin)?.host ?? '');
  const isOwnForm = site === '' ? hasOwnOrigin : site === 'same-origin' || site === 'none';
  if (!isOwnForm)
    throw new Forbidden(
      'Send this form from the front page of this service. Forms on other sites are refused.',
    );
}

/** Reads the fields of the form, also from a body that the schema refused. */
function readFields(body: unknown): FormFields {
  const { url, fragment } = readMembers(body);
  return {
    url: typeof url === 'string' ? url : '',
    ...(fragment === undefined ? {} : { fragment: 'true' }),
  };
}

function toProblem({ reason, message }: OriginRefused, text: string): AnswerView {
  if (text === '')
    return { problem: 'Type a host or the URL of something it sells.', search: null };
  return { problem: message, search: reason === 'single_label' ? text : null };
}

async function answerByPreflight(
  { origin, path }: PreflightTarget,
  ip: string,
  { preflight, config: { baseUrl, revision } }: RouteContext,
): Promise<AnswerView> {
  const client = toClient(ip);
  const call = { method: 'GET', maxPrice: null, client };
  const answer =
    path === null
      ? await preflight.judgeHost(origin, client)
      : { path, preflight: await preflight.judgeUrl({ url: `${origin.url}${path}`, ...call }) };
  const { toAnswerView } = await importHomePage();
  const scanPrice = formatPrice(revision.offers.scan);
  return toAnswerView({ ...answer, origin: origin.url, baseUrl, scanPrice });
}
