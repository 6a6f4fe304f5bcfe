import { isJsonList, isJsonObject, jsonObject } from '../json/json.ts';
import type { Challenge } from './challenge.ts';

const EXTENSION = 'sign-in-with-x';

/**
 * A 402 with an empty `accepts` and the sign-in extension (specs/extensions/sign-in-with-x.md) asks for
 * no money.
 */
export function isSignInOnly({ value }: Pick<Challenge, 'value'>): boolean {
  const { accepts } = value;
  if (!isJsonList(accepts) || accepts.length > 0) return false;
  return isJsonObject(jsonObject(value['extensions'])[EXTENSION]);
}
