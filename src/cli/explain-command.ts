/** `explain <id>`: why a check is there, its rule and outcomes, and how to mend what it finds. */
import { listCatalogs, readCatalog } from '../engine/catalog/catalog.ts';
import { type Explanation, explainAlone } from '../engine/catalog/explain.ts';
import { CatalogError } from '../engine/errors.ts';
import { type Streams, write } from './streams.ts';
import { UsageError } from './usage-error.ts';

/** Throws UsageError where there is no such check. */
export async function explainCommand(args: readonly string[], { out }: Streams): Promise<0> {
  const [id, ...more] = args;
  if (id === undefined || more.length > 0) {
    throw new UsageError('usage: npm run explain -- <id>, such as P6');
  }
  const newest = (await listCatalogs()).at(-1) ?? 'at all';
  const { catalog, isChanged } = await readCatalog(newest);
  if (isChanged) {
    throw new CatalogError(`catalog/${newest}.json is refused: it is published and was changed.`);
  }
  const wanted = id.toUpperCase();
  if (!catalog.checks.some((check) => check.id === wanted)) {
    const ids = catalog.checks.map((check) => check.id).join(', ');
    throw new UsageError(`${id}: no such check; there are ${ids}`);
  }
  await write(out, render(await explainAlone(wanted, catalog)));
  return 0;
}

function render(explanation: Explanation): string {
  const { id, title, severity, category, impl, outcomes, sections } = explanation;
  return [
    `${id} ${title} (${severity}, ${category}, ${impl})`,
    '',
    ...sections.flatMap(({ heading, text }) => [heading.toUpperCase(), '', text.trim(), '']),
    `Outcomes, first match wins: ${outcomes.join(', ')}`,
    '',
  ].join('\n');
}
