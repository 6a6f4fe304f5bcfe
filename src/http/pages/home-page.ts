import type { Project } from '../../directory/project.ts';

export type HomePageInput = {
  readonly query: string;
  readonly page: number;
  readonly pageSize: number;
  readonly count: number;
  readonly projects: readonly Project[];
  /** "$0.05" */
  readonly scanPrice: string;
};

export function homePage(input: HomePageInput) {
  const { query, page, pageSize, count } = input;
  const at = (number: number) => `/?q=${encodeURIComponent(query)}&page=${number}`;
  return {
    ...input,
    title: 'x402 Conformance Scanner',
    summary: 'Grades of x402 seller origins, on 25 published checks',
    previous: page > 0 ? at(page - 1) : null,
    next: (page + 1) * pageSize < count ? at(page + 1) : null,
  };
}
