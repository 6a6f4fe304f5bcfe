import type { DiscoveryExample } from '../../../payment/paid-route.ts';

/** Example of a report for challenges; short, because clients echo all of it in a header. */
export function reportExample(cache: 'hit' | 'miss'): DiscoveryExample['output'] {
  return {
    example: { origin: 'https://api.example.com', grade: 'A', score: 97, cache, results: [] },
    schema: {
      properties: {
        grade: { type: 'string' },
        score: { type: 'integer' },
        results: { type: 'array' },
      },
      required: ['grade', 'score', 'results'],
    },
  };
}
