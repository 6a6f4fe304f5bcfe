/** Validates declarations with the facilitators' validator. Runs on a worker, because it compiles origins' schemas. */
import { type DiscoveryExtension, validateDiscoveryExtension } from '@x402/extensions/bazaar';
import { isJsonObject, type JsonValue } from '../parse/json/json.ts';
import { cleanText } from '../parse/text/text.ts';

const MAX_ERROR_CHARS = 200;

/** Returns, for each declaration, its first violation with a JSON pointer; null if it is valid. */
export function validateDeclarations(
  declarations: readonly JsonValue[],
): readonly (string | null)[] {
  return declarations.map((declaration) => {
    if (!isJsonObject(declaration)) return '/extensions/bazaar: it is not an object';
    // The package's function accepts a value of any shape.
    const { valid, errors } = validateDiscoveryExtension(
      declaration as unknown as DiscoveryExtension,
    );
    if (valid) return null;
    const [first = 'invalid'] = errors ?? [];
    // The validator's pointers begin inside `info`.
    const separator = first.startsWith('/') ? '/info' : ': ';
    return cleanText(`/extensions/bazaar${separator}${first}`, MAX_ERROR_CHARS);
  });
}
