import { StoreError } from '../contract/store-error.ts';
import { objectFromStoredJson } from './stored-json.ts';

/** @throws StoreError `corrupt` */
export function headersFromJson(text: string): Readonly<Record<string, string>> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(objectFromStoredJson(text))) {
    if (typeof value !== 'string') {
      throw new StoreError('corrupt', `the stored header ${name} is no string; restore a backup`);
    }
    headers[name] = value;
  }
  return headers;
}
