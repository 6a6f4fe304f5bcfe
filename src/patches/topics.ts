/** The topic of the patch for each check, and for single outcomes if they differ. */
import type { Topic } from './patch.ts';

export type CheckTopics = {
  /** Names the part of the code that fixes this check. */
  readonly lead: string;
  /** Overrides `lead` for single outcomes. */
  readonly leads?: Readonly<Record<string, string>>;
  /** The topic of outcomes that `byOutcome` does not list. */
  readonly otherwise: Topic;
  readonly byOutcome?: Readonly<Record<string, Topic>>;
  /** Outcomes that code cannot fix, with what can. */
  readonly notByCode?: Readonly<Record<string, string>>;
};

export const CHECK_TOPICS: Readonly<Record<string, CheckTopics>> = {
  P1: {
    lead: 'Answer at the root, over valid TLS.',
    otherwise: 'root-links',
    byOutcome: {
      'tls-expired': 'tls',
      'tls-self-signed': 'tls',
      'tls-wrong-host': 'tls',
      'tls-unknown-issuer': 'tls',
      'tls-other': 'tls',
    },
    notByCode: {
      'blocked-address': 'publish only public addresses in the DNS zone of this host',
      dns: 'publish an A or AAAA record for this host',
      refused: 'start the server, and let it listen on the public address',
      slow: 'keep one instance awake: no code in front of the first byte takes 5 seconds',
    },
  },
  P2: {
    lead: 'Put the payment middleware before body parsers and validation, on each paid route.',
    leads: {
      'none-found': 'Declare each paid path: nothing does, so neither agents nor a scan find one.',
      'made-up': 'Give each path and query parameter an example: a scan asks with it.',
    },
    otherwise: 'paid-route',
    byOutcome: { 'none-found': 'manifest', 'made-up': 'openapi' },
  },
  P3: {
    lead: 'Let the SDK write the challenge: a price in dollars becomes amount, asset and domain.',
    otherwise: 'paid-route',
    byOutcome: {
      'bad-resource-url': 'public-url',
      'relative-url': 'public-url',
      'other-host': 'public-url',
      'http-url': 'public-url',
    },
  },
  P4: {
    lead: 'Let the SDK send PAYMENT-REQUIRED, and let nobody keep a 402.',
    otherwise: 'paid-route',
    byOutcome: { cacheable: 'no-store' },
  },
  P5: { lead: 'Ask for the payment on HEAD as on GET.', otherwise: 'head-guard' },
  P6: { lead: 'Keep the price in one place.', otherwise: 'one-price' },
  P7: { lead: 'Keep the recipient in one place, checked at start.', otherwise: 'one-recipient' },
  P8: { lead: '`description` has 1 to 500 characters.', otherwise: 'paid-route' },
  S1: {
    lead: 'Serve the document at /openapi.json, with contact and guidance.',
    otherwise: 'openapi',
  },
  S2: { lead: '`components.securitySchemes` is what counts.', otherwise: 'openapi' },
  S3: { lead: '`security: []` on each free operation is what counts.', otherwise: 'openapi' },
  S4: {
    lead: 'On each paid operation: the 402 response, `security` and `x-payment-info`.',
    otherwise: 'openapi',
  },
  S5: { lead: 'Give an example of the input.', otherwise: 'bazaar' },
  S6: { lead: 'List each resource by its full address.', otherwise: 'manifest' },
  S7: { lead: 'An H1 first, then a summary and links.', otherwise: 'llms-txt' },
  S8: { lead: 'All members that A2A requires.', otherwise: 'agent-card' },
  S9: { lead: 'Answer at /, and name a discovery document there.', otherwise: 'root-links' },
  S10: { lead: 'Let search and user-fetch agents read.', otherwise: 'robots' },
  S11: { lead: 'Build each link from one address.', otherwise: 'base-url' },
  S12: { lead: 'Serve an image, and name it at the root.', otherwise: 'favicon' },
};

/** The topics of a check, the most common first. */
export function listTopics({ otherwise, byOutcome }: CheckTopics): readonly Topic[] {
  return [...new Set([otherwise, ...Object.values(byOutcome ?? {})])];
}
