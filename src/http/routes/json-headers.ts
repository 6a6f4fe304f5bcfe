/** Headers of JSON that was written before it is sent. */

export const JSON_HEADERS = { 'content-type': 'application/json; charset=utf-8' } as const;
