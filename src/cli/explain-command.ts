/** `explain <id>`: why a check is there, its rule and outcomes, and how to mend what it finds. */
import { type Explanation, explainCheck } from '../engine/catalog/explain.ts';
import { startEngine } from './engine.ts';
import { type Streams, write } from './streams.ts';
import { UsageError } from './usage-error.ts';

/** Throws UsageError where there is no such check. */
export async function explainCommand(args: readonly string[], { out }: Streams): Promise<0> {
  const [id, ...more] = args;
  if (id === undefined || more.length > 0) {
    throw new UsageError('usage: npm run explain -- <id>, such as P6');
  }
  const { catalog, checks, pool } = await startEngine(null);
  await pool.close();
  const wanted = id.toUpperCase();
  if (!catalog.checks.some((check) => check.id === wanted)) {
    const ids = catalog.checks.map((check) => check.id).join(', ');
    throw new UsageError(`${id}: no such check; there are ${ids}`);
  }
  await write(out, render(await explainCheck(wanted, catalog, checks)));
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
