import type { Project } from '../../directory/project.ts';
import type { DirectoryChange } from '../../store/changes.ts';
import type { AnswerView } from './answer-view.ts';
import { cutText, describePayableDays } from './page-text.ts';
import { drawGradeHistogram, type GradeCounts } from './pictures.ts';

export type HomePageInput = {
  /** Number of all listed hosts. */
  readonly count: number;
  /** The newest hosts, newest scan first. */
  readonly projects: readonly Project[];
  readonly gradeCounts: GradeCounts;
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
  return {
    ...input,
    projects: input.projects.map((project) => ({
      ...project,
      displayName: cutText(project.displayName, MAX_NAME_BYTES),
      days: toDaysTag(project.availability),
    })),
    title: 'x402 Conformance Scanner',
    summary: 'Can an agent pay this API? Grades of x402 seller origins, on 25 published checks',
    histogram: drawGradeHistogram(input.gradeCounts),
    movements: toMovements(input),
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
