import { Type } from 'typebox';

export const listingKeyParameter = Type.Optional(
  Type.String({
    maxLength: 128,
    description: 'The listingKey that POST /v1/verify/start answered beside the token.',
    documented: {
      pattern: '^[A-Za-z0-9_-]{43}$',
      example: 'c2VjcmV0LXRoYXQtc3RhbmRzLWZvci1pdHMtb3duZXI',
    },
  }),
);
