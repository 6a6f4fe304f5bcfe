import { Type } from 'typebox';

export const listingKeyParameter = Type.Optional(
  Type.String({
    maxLength: 128,
    description:
      'The listingKey that POST /v1/verify/start answered beside the token; any other text counts as none.',
    documented: {
      example: 'c2VjcmV0LXRoYXQtc3RhbmRzLWZvci1pdHMtb3duZXI',
    },
  }),
);
