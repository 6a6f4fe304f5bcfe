/** The topic of the patch for each check. An outcome may have its own topic. */
import type { Topic } from './patch.ts';

export type CheckTopics = {
  /** Says in one sentence what to do. */
  readonly lead: string;
  /** Leads of outcomes that need another lead than `lead`. */
  readonly leadsByOutcome?: Readonly<Record<string, string>>;
  /** The topic of all outcomes that `topicsByOutcome` does not list. */
  readonly topic: Topic;
  readonly topicsByOutcome?: Readonly<Record<string, Topic | readonly Topic[]>>;
  /** Outcomes that code cannot fix, each with the fix to make instead. */
  readonly fixesWithoutCode?: Readonly<Record<string, string>>;
};

const CHALLENGE_LEAD =
  'Let the SDK write the challenge: it encodes the header PAYMENT-REQUIRED as clients read it.';

const ENTRY_LEAD = 'Give each entry its full address in `resource`, which indexes read.';

export const CHECK_TOPICS: Readonly<Record<string, CheckTopics>> = {
  P1: {
    lead: 'Answer at the root, over valid TLS.',
    topic: 'root-links',
    topicsByOutcome: {
      'tls-expired': 'tls',
      'tls-self-signed': 'tls',
      'tls-wrong-host': 'tls',
      'tls-unknown-issuer': 'tls',
      'tls-other': 'tls',
    },
    fixesWithoutCode: {
      'blocked-address': 'publish only public addresses in the DNS zone of this host',
      dns: 'make the name servers of this host answer with an A or AAAA record',
      refused: 'start the server, and let it listen on the public address',
      slow: 'keep one instance awake, because your code does not take 5 seconds before the first byte',
    },
  },
  P2: {
    lead: 'Put the payment middleware before body parsers and validation, on each paid route.',
    leadsByOutcome: {
      'none-found': 'Declare each paid path, because agents and scans find only declared paths.',
      'made-up':
        'Give each path and query parameter an example, because a scan requests the path with it.',
      'every-path':
        'Guard only what you sell, and declare it in documents that the guard lets through.',
      'other-status':
        'Let the middleware set the status, 402, and let nothing after it change that.',
      'other-header': CHALLENGE_LEAD,
      'raw-json': CHALLENGE_LEAD,
      base64url: CHALLENGE_LEAD,
      nested: CHALLENGE_LEAD,
      'not-a-challenge': CHALLENGE_LEAD,
      undecodable: CHALLENGE_LEAD,
      'own-terms': CHALLENGE_LEAD,
      page: CHALLENGE_LEAD,
      'rate-limited':
        'Do not count requests without a payment: a client must get the 402 before it can pay.',
      unpaid: 'Guard each paid route. A route that is free says so: a price of 0, `security: []`.',
    },
    topic: 'paid-route',
    topicsByOutcome: {
      'none-found': ['openapi', 'manifest'],
      'every-path': ['openapi', 'paid-route'],
      'made-up': 'openapi',
      'rate-limited': 'limiter',
    },
    fixesWithoutCode: {
      'no-application': 'deploy the application at this name, or point the name at it',
      closed: 'let callers without a login or a browser reach the paid paths and the documents',
      'no-terms': 'read the log of the payment middleware, and ask its facilitator for its kinds',
    },
  },
  P3: {
    lead: 'Let the SDK write the challenge. It turns a price in dollars into amount, asset and domain.',
    topic: 'paid-route',
    topicsByOutcome: {
      'bad-resource-url': 'public-url',
      'relative-url': 'public-url',
      'other-host': 'public-url',
      'http-url': 'public-url',
      'no-domain': 'token-domain',
      'wrong-domain': 'token-domain',
    },
  },
  P4: {
    lead: 'Let the SDK send PAYMENT-REQUIRED, and forbid caches to store a 402.',
    topic: 'paid-route',
    topicsByOutcome: { cacheable: 'no-store' },
  },
  P5: { lead: 'Ask for the payment on HEAD as on GET.', topic: 'head-guard' },
  P6: { lead: 'Keep the price in one place.', topic: 'one-price' },
  P7: { lead: 'Keep the recipient in one place, and check it at start.', topic: 'one-recipient' },
  P8: { lead: 'Give `description` 1 to 500 characters.', topic: 'paid-route' },
  S1: {
    lead: 'Serve the document at /openapi.json, with contact and guidance.',
    leadsByOutcome: {
      'local-server': 'Write the address that was called into `servers`, not that of your machine.',
    },
    topic: 'openapi',
    topicsByOutcome: { 'local-server': 'own-server' },
  },
  S2: { lead: 'Declare the x402 scheme in `components.securitySchemes`.', topic: 'openapi' },
  S3: {
    lead: 'Write `security: []` on each free operation.',
    leadsByOutcome: { unsaid: 'Say of each operation if it is paid or free.' },
    topic: 'openapi',
  },
  S4: {
    lead: 'Declare the 402 response, `security` and `x-payment-info` on each paid operation.',
    topic: 'openapi',
  },
  S5: {
    lead: 'Give an example of the input.',
    leadsByOutcome: {
      'bad-schema':
        'Let the SDK write the schema: you give that of the input, and it describes `info`.',
    },
    topic: 'bazaar',
  },
  S6: {
    lead: 'List each resource by its full address.',
    leadsByOutcome: { 'odd-address': ENTRY_LEAD, 'no-address': ENTRY_LEAD },
    topic: 'manifest',
    topicsByOutcome: { 'odd-address': 'manifest-entries', 'no-address': 'manifest-entries' },
  },
  S7: { lead: 'Begin with an H1, then add a summary and links.', topic: 'llms-txt' },
  S8: { lead: 'Write all members that A2A requires.', topic: 'agent-card' },
  S9: { lead: 'Answer at /, and name a discovery document there.', topic: 'root-links' },
  S10: { lead: 'Allow agents that search, and agents that fetch for a user.', topic: 'robots' },
  S11: { lead: 'Build each link from one address.', topic: 'base-url' },
  S12: { lead: 'Serve an image, and name it at the root.', topic: 'favicon' },
};

/** The topics of a check, the most common first. */
export function listTopics({ topic, topicsByOutcome }: CheckTopics): readonly Topic[] {
  return [...new Set([topic, ...Object.values(topicsByOutcome ?? {}).flat()])];
}
