/** Headers of every paid answer; caching and payment headers are the gate's. */
export const JSON_HEADERS = { 'content-type': 'application/json; charset=utf-8' } as const;
