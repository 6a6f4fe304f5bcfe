/** Writes the files of a new check. They compile, but fail lint until source, rule and cases are real. */
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { CHECKS_FOLDER } from '../../src/scanner/engine/catalog/discover-checks.ts';
import { ToolUsageError } from './tool-usage-error.ts';

const TEMPLATES = new URL('./check-template/', import.meta.url);
const ID = /^[PSD][1-9]\d?$/;
const TITLE = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;

/** Returns the folder's URL. Throws ToolUsageError if the id or title is malformed, or the id is taken. */
export async function scaffoldCheck(
  id: string,
  title: string,
  checksFolder = CHECKS_FOLDER,
): Promise<URL> {
  if (!ID.test(id)) {
    throw new ToolUsageError(
      `"${id}" is not a check id: take P (protocol), S (documents) or D (standing) and a number.`,
    );
  }
  if (!TITLE.test(title)) {
    throw new ToolUsageError(`"${title}" is not a title: lower-case words with hyphens, a noun.`);
  }
  const existingFolder = (await readdir(checksFolder)).find((name) => name.startsWith(`${id}-`));
  if (existingFolder)
    throw new ToolUsageError(`${id} is taken by checks/${existingFolder}: take the next number.`);

  const folder = new URL(`${id}-${title}/`, checksFolder);
  await mkdir(folder);
  for (const name of await readdir(TEMPLATES)) {
    const template = await readFile(new URL(name, TEMPLATES), 'utf8');
    const text = template.replaceAll('{{id}}', id).replaceAll('{{title}}', title);
    await writeFile(new URL(name.replace(/\.txt$/, ''), folder), text);
  }
  return folder;
}
