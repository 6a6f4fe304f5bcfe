import type { Project } from '../../directory/project.ts';
import type { DirectoryChange } from '../../store/changes.ts';
import type { AnswerView } from './answer-view.ts';
import { cutText, describePayableDays } from './page-text.ts';
import { drawGradeHistogram, type GradeCounts } from './pictures.ts';

export type HomePageInput = {
  /** The visitor's search text: part of a host. */
  readonly query: string;
  /** 0 is the first page. */
  readonly page: number;
  readonly pageSize: number;
  /** Number of all hosts that match the query. */
  readonly count: number;
  readonly projects: readonly Project[];
  /** Counts of all listed origins; null if the page lists search results. */
  readonly gradeCounts: GradeCounts | null;
  /** Newest first. */
  readonly changes: readonly DirectoryChange[];
  /** "$0.05" */
  readonly scanPrice: string;
  /** The address that the visitor typed. `answer` is about this address. */
  readonly asked: string;
  readonly answer: AnswerView | null;
  readonly hasMcp: boolean;
};

const MAX_MOVEMENTS = 8;
const MAX_NAME_BYTES = 120;

export function toHomePage(input: HomePageInput) {
  const { query, page, pageSize, count, gradeCounts } = input;
  const toPageLink = (number: number) => `/?q=${encodeURIComponent(query)}&page=${number}`;
  return {
    ...input,
    projects: input.projects.map((project) => ({
      ...project,
      displayName: cutText(project.displayName, MAX_NAME_BYTES),
      days: toDaysTag(project.availability),
    })),
    title: 'x402 Conformance Scanner',
    summary: 'Can an agent pay this API? Grades of x402 seller origins, on 25 published checks',
    isFront: query === '' && page === 0,
    histogram: gradeCounts === null ? null : drawGradeHistogram(gradeCounts),
    movements: toMovements(input),
    previous: page > 0 ? toPageLink(page - 1) : null,
    next: (page + 1) * pageSize < count ? toPageLink(page + 1) : null,
  };
}

/** "payable 29 of 30 days", or an empty text for an origin that was never checked. */
function toDaysTag(availability: Project['availability']): string {
  const { payableDays = 0, checkedDays = 0 } = availability ?? {};
  return checkedDays === 0 ? '' : describePayableDays({ payableDays, checkedDays });
}

/** Lists new hosts and changed grades, only of hosts that this page shows: it shows few hosts of one domain. */
function toMovements({ changes, projects }: HomePageInput) {
  const shownHosts = new Set<string>(projects.map(({ host }) => host));
  return changes
    .filter(({ changeType, host }) => changeType !== 'rescanned' && shownHosts.has(host))
    .slice(0, MAX_MOVEMENTS)
    .map(({ host, grade, previousGrade = null, changedAtMs }) => {
      const changedAt = new Date(changedAtMs).toISOString();
      return { host, grade, previousGrade, changedAt, day: changedAt.slice(0, 10) };
    });
}
