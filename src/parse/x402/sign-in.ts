/** Sign-in with a wallet (specs/extensions/sign-in-with-x.md): a 402 that asks for no money. */
import { isJsonList, isJsonObject, jsonObject } from '../json/json.ts';
import type { Challenge } from './challenge.ts';

const EXTENSION = 'sign-in-with-x';

/** Whether a challenge sells nothing: an empty `accepts` beside the extension that asks who it is. */
export function isSignInOnly({ value }: Pick<Challenge, 'value'>): boolean {
  const { accepts } = value;
  if (!isJsonList(accepts) || accepts.length > 0) return false;
  return isJsonObject(jsonObject(value['extensions'])[EXTENSION]);
}
