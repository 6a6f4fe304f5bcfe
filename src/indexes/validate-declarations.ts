/** Uses the facilitators' own validator. It runs on a worker, because it compiles schemas of origins. */
import { type DiscoveryExtension, validateDiscoveryExtension } from '@x402/extensions/bazaar';
import { isJsonObject, type JsonValue } from '../parse/json/json.ts';
import { cleanText } from '../parse/text/text.ts';

const MAX_ERROR_CHARS = 200;

/** Returns the first violation of each declaration, by its pointer; null when valid. */
export function validateDeclarations(
  declarations: readonly JsonValue[],
): readonly (string | null)[] {
  return declarations.map((declaration) => {
    if (!isJsonObject(declaration)) return '/extensions/bazaar: it is not an object';
    // The package accepts any shape.
    const { valid, errors } = validateDiscoveryExtension(
      declaration as unknown as DiscoveryExtension,
    );
    if (valid) return null;
    const [first = 'invalid'] = errors ?? [];
    const place = first.startsWith('/') ? '/info' : '';
    return cleanText(
      `/extensions/bazaar${place}${first.startsWith('/') ? '' : ': '}${first}`,
      MAX_ERROR_CHARS,
    );
  });
}
