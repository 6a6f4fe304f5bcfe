/** Requires that each check has the id and version of its path, and that the checks it requires are there. */
import type { DiscoveredCheck } from '../../src/scanner/engine/catalog/discover-checks.ts';
import type { CheckDefinition } from '../../src/scanner/engine/define-check.ts';
import type { Finding } from './finding.ts';

type Relations = Pick<DiscoveredCheck, 'id' | 'title' | 'version'> & {
  readonly definition: Pick<CheckDefinition, 'id' | 'version' | 'requires'>;
};

export function findRelationBreaches(checks: readonly Relations[]): Finding[] {
  const versionsById = Map.groupBy(checks, ({ id }) => id);
  const findRequired = (id: string) =>
    (versionsById.get(id) ?? []).flatMap(({ definition }) => definition.requires);
  return checks.flatMap(({ id, title, version, definition }) => {
    const breaches =
      definition.id === id ? [] : [`id is "${definition.id}", the folder says "${id}"`];
    if (definition.version !== version)
      breaches.push(`version is ${definition.version}, the file says ${version}`);
    if (versionsById.get(id)?.some((other) => other.title !== title))
      breaches.push(`${id} has two folders: give one another id`);
    const unknown = definition.requires.filter((one) => !versionsById.has(one));
    if (unknown.length > 0) breaches.push(`it requires ${unknown.join(', ')}: no such check`);
    if (isCircular(findRequired, id))
      breaches.push(`${id} requires itself, directly or through others`);
    const file = `checks/${id}-${title}/v${version}.ts`;
    return breaches.map((message) => ({ file, line: 1, message }));
  });
}

/** True if a check requires itself, directly or through other checks. */
function isCircular(findRequired: (id: string) => readonly string[], target: string): boolean {
  const visited = new Set<string>();
  const pending = [...findRequired(target)];
  for (let id = pending.pop(); id !== undefined; id = pending.pop()) {
    if (id === target) return true;
    if (!visited.has(id)) pending.push(...findRequired(id));
    visited.add(id);
  }
  return false;
}
