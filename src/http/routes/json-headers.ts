export const JSON_HEADERS = { 'content-type': 'application/json; charset=utf-8' } as const;
