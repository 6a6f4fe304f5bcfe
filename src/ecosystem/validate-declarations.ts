/** Discovery declarations by the validator of the package that facilitators run. On a worker: it compiles schemas of origins. */
import { type DiscoveryExtension, validateDiscoveryExtension } from '@x402/extensions/bazaar';
import { isJsonObject, type JsonValue } from '../parse/json/json.ts';
import { cleanText } from '../parse/text/text.ts';

const MAX_ERROR_CHARS = 200;

/** The first violation of each, by its pointer; null where it is valid. */
export function validateDeclarations(
  declarations: readonly JsonValue[],
): readonly (string | null)[] {
  return declarations.map((declaration) => {
    if (!isJsonObject(declaration)) return '/extensions/bazaar: it is no object';
    // The package judges whatever shape it is given.
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
