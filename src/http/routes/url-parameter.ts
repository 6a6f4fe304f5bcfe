import { Type } from 'typebox';

/**
 * Schema of the `url` parameter. `parseOrigin` alone validates it, because its refusals have codes of
 * their own; the format here is documentation for generators of clients.
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
