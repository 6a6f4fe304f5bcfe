import type { Project } from '../../directory/project.ts';
import type { DirectoryChange } from '../../store/changes.ts';
import type { AnswerView } from './answer-view.ts';
import { cutText, payableOf } from './page-text.ts';
import { type GradeCounts, gradeHistogram } from './pictures.ts';

export type HomePageInput = {
  /** Part of a host, to find it in the directory. */
  readonly query: string;
  readonly page: number;
  readonly pageSize: number;
  readonly count: number;
  readonly projects: readonly Project[];
  /** Counts of all listed origins; null if the page lists search results. */
  readonly gradeCounts: GradeCounts | null;
  /** Newest first. */
  readonly changes: readonly DirectoryChange[];
  /** "$0.05" */
  readonly scanPrice: string;
  /** The text in the field, and the answer to it. */
  readonly asked: string;
  readonly answer: AnswerView | null;
  readonly hasMcp: boolean;
};

const MAX_MOVEMENTS = 8;
const MAX_NAME_BYTES = 120;

export function homePage(input: HomePageInput) {
  const { query, page, pageSize, count, gradeCounts } = input;
  const at = (number: number) => `/?q=${encodeURIComponent(query)}&page=${number}`;
  return {
    ...input,
    projects: input.projects.map((project) => ({
      ...project,
      displayName: cutText(project.displayName, MAX_NAME_BYTES),
      days: shortDays(project.availability),
    })),
    title: 'x402 Conformance Scanner',
    summary: 'Can an agent pay this API? Grades of x402 seller origins, on 25 published checks',
    isFront: query === '' && page === 0,
    histogram: gradeCounts === null ? null : gradeHistogram(gradeCounts),
    movements: movementsOf(input),
    previous: page > 0 ? at(page - 1) : null,
    next: (page + 1) * pageSize < count ? at(page + 1) : null,
  };
}

/** "payable 29 of 30 days" */
function shortDays(availability: Project['availability']): string {
  const { payableDays = 0, checkedDays = 0 } = availability ?? {};
  return checkedDays === 0 ? '' : payableOf({ payableDays, checkedDays });
}

/** Newcomers and changed grades of the hosts on the page, which has few of one domain. */
function movementsOf({ changes, projects }: HomePageInput) {
  const shown = new Set<string>(projects.map(({ host }) => host));
  return changes
    .filter(({ changeType, host }) => changeType !== 'rescanned' && shown.has(host))
    .slice(0, MAX_MOVEMENTS)
    .map(({ host, grade, previousGrade = null, changedAtMs }) => {
      const at = new Date(changedAtMs).toISOString();
      return { host, grade, previousGrade, at, day: at.slice(0, 10) };
    });
}
