import { readFile } from 'node:fs/promises';
import type { JsonValue } from '../model/json.ts';
import { UsageError } from './usage-error.ts';

/**
 * Reads a JSON file that the user named.
 * @param name how the user named it, such as "--recording FILE"; begins the error
 * @throws UsageError where it cannot be read, or is no JSON
 */
export async function readJson(file: string, name = file): Promise<JsonValue> {
  try {
    const value: JsonValue = JSON.parse(await readFile(file, 'utf8'));
    return value;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new UsageError(`${name}: cannot be read as JSON (${reason})`);
  }
}
