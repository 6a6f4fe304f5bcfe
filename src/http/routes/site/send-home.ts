import type { FastifyReply } from 'fastify';
import { PAGE_SIZE, readFrontPage } from '../../../directory/front-page.ts';
import { toProject } from '../../../directory/project.ts';
import { PATHS } from '../../documents/service-facts.ts';
import type { AnswerView } from '../../pages/answer-view.ts';
import { homePage } from '../../pages/home-page.ts';
import type { RouteContext } from '../route-context.ts';
import { priceText } from './page.ts';

/** Most of the newest changes are rescans, which the page leaves out. */
const CHANGES_READ = 100;
/** Link header: agents that know only the host find the documents by it. */
const LINKS = `<${PATHS.openapi}>; rel="service-desc", <${PATHS.llms}>; rel="describedby"`;

export type HomeRequest = {
  readonly q: string;
  readonly page: number;
  readonly asked: string;
  readonly answer: AnswerView | null;
};

/** Sends the front page, or a page of the hosts that contain `q`. */
export type SendHome = (reply: FastifyReply, request: HomeRequest) => Promise<FastifyReply>;

export function createSendHome({ config, store }: RouteContext): SendHome {
  const { siteUrl, revision } = config;
  const scanPrice = priceText(revision.offers.scan);
  const hasMcp = revision.offers.mcp !== undefined;

  return async (reply, { q, page, asked, answer }) => {
    reply.header('link', LINKS);
    const wanted = { sort: 'recent', q, page, pageSize: PAGE_SIZE } as const;
    const isFront = q === '' && page === 0;
    const [{ count, records }, gradeCounts, changes] = await Promise.all([
      isFront ? readFrontPage(store.directory) : store.directory.list(wanted),
      isFront ? store.directory.grades() : null,
      isFront ? store.changes.newest(CHANGES_READ) : [],
    ]);
    const nowMs = store.now();
    const projects = records.map((record) => toProject(record, siteUrl, nowMs));
    const list = { ...wanted, query: q, count, projects, gradeCounts, changes };
    return reply.view('home', homePage({ ...list, scanPrice, hasMcp, asked, answer }));
  };
}
