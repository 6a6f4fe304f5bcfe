/** The farm as a table of Markdown, for SECURITY.md. */
import { FARM } from './farm.ts';

export const WRITES_THE_TABLE = 'UPDATE_GOLDEN=1 npx vitest run test/hostile/farm';
const BEGIN = `<!-- the fault farm, written by ${WRITES_THE_TABLE} -->`;
const END = '<!-- the end of the fault farm -->';

function farmTable(): string {
  const rows = FARM.map(({ kind, name, finding }) => `| ${kind} | ${name} | ${finding} |`);
  return ['| by its | an origin that | is reported as |', '|---|---|---|', ...rows].join('\n');
}

/** A document with the table of today between its two marks, which are put at its end if need be. */
export function withFarmTable(document: string): string {
  const table = `${BEGIN}\n${farmTable()}\n${END}`;
  const [begin, end] = [document.indexOf(BEGIN), document.indexOf(END)];
  if (begin === -1 || end === -1) return `${document.trimEnd()}\n\n${table}\n`.trimStart();
  return `${document.slice(0, begin)}${table}${document.slice(end + END.length)}`;
}
