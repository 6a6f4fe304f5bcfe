/** The front page, and its search. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { DOCUMENT_OFFER } from '../../../config/revision.ts';
import { readFrontPage } from '../../../directory/front-page.ts';
import { toProject } from '../../../directory/project.ts';
import { ownBytes } from '../../../memory/own-bytes.ts';
import { Type } from '../../../model/schema.ts';
import type { DirectoryRecord, DirectoryVersions } from '../../../store/contract/directory.ts';
import { PATHS } from '../../documents/service-facts.ts';
import { KeptTexts } from '../../kept-texts.ts';
import { homePage } from '../../pages/home-page.ts';
import type { RouteContext } from '../route-context.ts';
import { priceText } from './page.ts';

const PAGE_SIZE = 50;
const HTML = 'text/html; charset=utf-8';
/** Of all pages together, some 16 KiB each. */
const MAX_KEPT_BYTES = 4 * 1_048_576;
/** People and agents who know nothing but the host find the documents from here. */
const LINKS = `<${PATHS.openapi}>; rel="service-desc", <${PATHS.llms}>; rel="describedby"`;

const querystring = Type.Object({
  q: Type.Optional(Type.String({ maxLength: 253 })),
  page: Type.Optional(Type.String({ pattern: '^\\d{1,6}$' })),
});

export const homeRoute: FastifyPluginAsyncTypebox<RouteContext> = async (
  app,
  { config, store },
) => {
  const kept = new KeptTexts<Buffer>(MAX_KEPT_BYTES);
  const scanPrice = priceText(config.revision.offers.scan);

  app.get(
    '/',
    { config: { offer: DOCUMENT_OFFER }, schema: { hide: true, querystring } },
    async (request, reply) => {
      reply.header('link', LINKS);
      const { q = '', page = '0' } = request.query;
      const query = q.trim();
      const nowMs = store.now();
      // Searches are too many to be kept.
      const version = query === '' ? versionOf(await store.directory.versions()) : null;
      const known = version === null ? null : kept.get(page, { version, nowMs });
      if (known !== null) return reply.type(HTML).send(known);
      const wanted = { sort: 'recent', q: query, page: Number(page), pageSize: PAGE_SIZE } as const;
      const isFront = query === '' && wanted.page === 0;
      const { count, records } = isFront
        ? await readFrontPage(store.directory)
        : await store.directory.list(wanted);
      const projects = records.map((record) => toProject(record, config.siteUrl, nowMs));
      const view = homePage({ ...wanted, query, count, projects, scanPrice });
      const made = ownBytes(Buffer.from(await app.view('home', view)));
      if (version !== null) {
        kept.keep(page, made, { version, nowMs, untilMs: unchangedUntilMs(records) });
      }
      return reply.type(HTML).send(made);
    },
  );
};

function versionOf({ published, preferences }: DirectoryVersions): string {
  return `${published} ${preferences}`;
}

/** When the first of them is no longer verified. */
function unchangedUntilMs(records: readonly DirectoryRecord[]): number {
  return Math.min(...records.map((record) => record.verifiedUntilMs ?? Number.POSITIVE_INFINITY));
}
