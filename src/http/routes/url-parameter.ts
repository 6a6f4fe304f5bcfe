import { Type } from 'typebox';

/**
 * The origin a request is about; `parseOrigin` alone says what counts as one, and why not. So what
 * generators of requests need to know is documented, and not validated.
 */
export const DOCUMENTED_URL = {
  format: 'uri-reference',
  pattern: '^(https://)?([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?[.])+[a-z]{2,63}(/[!-~]*)?$',
  minLength: 4,
  maxLength: 2_048,
  example: 'https://api.example.com',
};

export const urlParameter = Type.String({
  description:
    'An https URL or a bare host, such as https://api.example.com; path, query and fragment are dropped.',
  documented: DOCUMENTED_URL,
});
