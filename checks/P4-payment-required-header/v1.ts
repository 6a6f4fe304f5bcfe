/** P4: PAYMENT-REQUIRED carries the challenge, and the body agrees with it. Rule: README.md. */
import {
  defineCheck,
  type Found,
  fail,
  findVersion2Fix,
  pass,
  VERSION_2_FIX,
  warn,
  worstOf,
} from '#check';
import type { Kit } from '#kit';
import type { HttpData, ToolFacts } from '#model';
import type { ChallengedResource } from '#parse/challenge';

/** Half of what Node reads, because a buyer sends the header back together with a payment. */
const MAX_HEADER_CHARS = 8_192;
/** Node's `maxHeaderSize`. The limit applies to Node's fetch too. */
const NODE_MAX_HEAD_BYTES = 16_384;

const UNPADDED_NOTE =
  'no padding: the official TypeScript client reads it, the Python client refuses it';

const NO_RESULT_EVIDENCE =
  'sends its challenge outside the result of the tool: newer clients read only the result';
const RESULT_FIX =
  'Answer an unpaid call with a result: isError true, and the challenge in structuredContent and in content[0].text.';

const OUTCOMES = {
  'v1-only': fail(VERSION_2_FIX),
  missing: fail(
    'Send PAYMENT-REQUIRED with each 402: the base64 of the JSON that is in the body now.',
  ),
  repeated: fail('Send PAYMENT-REQUIRED once: mount the payment middleware once.'),
  'raw-json': fail('Encode the JSON of PAYMENT-REQUIRED as standard base64.'),
  base64url: fail('Encode PAYMENT-REQUIRED as standard base64 ("+", "/", padding), not base64url.'),
  undecodable: fail('Encode PAYMENT-REQUIRED as padded standard base64 of UTF-8 JSON.'),
  'not-a-challenge': fail(
    'Put the whole challenge in PAYMENT-REQUIRED, x402Version and accepts included.',
  ),
  'terms-differ': fail('Write header and body from one object, so that both ask for the same.'),
  'long-head': fail('Shorten the challenge or other headers: fetch reads 16 KiB of them in all.'),
  'not-an-error': fail(
    'Answer an unpaid call with isError true, and with payment_required only if the client asked for it.',
  ),
  'text-only': warn('Put the challenge in structuredContent too, as the same object.'),
  'structured-only': warn('Put the challenge in content[0].text too, as JSON.'),
  'other-binding': warn('Answer by org.x402/payment if client and server both offer it.'),
  differs: warn('Write header and body from one object, or send {} as the body.'),
  'too-long': warn('Shorten the extensions of the challenge, above all the schema of bazaar.'),
  unpadded: warn('Pad the base64 of PAYMENT-REQUIRED with "=" to whole groups of four.'),
  cacheable: warn(
    'Send Cache-Control: no-store with each 402: the Go, Rust and Java middlewares do not send it.',
  ),
  sound: pass('Keep writing header and body from one object.'),
};
type Flaw = Found<keyof typeof OUTCOMES>;

export default defineCheck({
  id: 'P4',
  version: 1,
  says: {
    right: 'Each 402 carries its challenge in the PAYMENT-REQUIRED header.',
    wrong: 'Clients cannot rely on the PAYMENT-REQUIRED header.',
    unjudged: 'It is not known whether clients can rely on the PAYMENT-REQUIRED header.',
  },
  needs: ['resources'],
  requires: ['P1', 'P2'],
  outcomes: OUTCOMES,

  evaluate({ resources }, kit) {
    return worstOf(
      OUTCOMES,
      resources,
      kit,
      (item) => {
        const { tool } = item.resource;
        const flaw = tool?.binding ? inspectTool(item, tool, kit) : inspect(item, kit);
        if (flaw === null) return [];
        // A tool without a binding has its challenge in an error of JSON-RPC, as older SDKs write it.
        const isInRpcError = tool !== undefined && flaw[0] === 'missing';
        return [isInRpcError ? ['missing', NO_RESULT_EVIDENCE, RESULT_FIX] : flaw];
      },
      (count, challenged) => [
        'sound',
        challenged.every(({ resource }) => resource.tool?.binding)
          ? `${count} sent the challenge in the structured result`
          : `${count} sent PAYMENT-REQUIRED`,
      ],
    );
  },
});

function inspect({ answer, reading, probe }: ChallengedResource, kit: Kit): Flaw | null {
  const { header, body, challenge } = reading;
  const versionFix = findVersion2Fix([probe.answer], kit);
  if (header.state === 'absent')
    return judgeAbsentHeader(answer, challenge.version, versionFix, kit);
  if (header.state !== 'ok') {
    const detail = `PAYMENT-REQUIRED ${kit.quote(header.raw, 40)}: ${header.detail}`;
    const { state } = header;
    const isOutcome = state === 'repeated' || state === 'raw-json' || state === 'base64url';
    return [isOutcome ? state : 'undecodable', detail];
  }
  if (challenge.where === 'body') {
    return ['not-a-challenge', `PAYMENT-REQUIRED holds ${kit.show(header.value)}`];
  }
  if (challenge.version === 1) {
    return ['v1-only', 'sends x402Version 1 in PAYMENT-REQUIRED', versionFix];
  }

  const bodyChallenge = body.ok ? kit.challengeIn(body.value, 'body') : null;
  const difference =
    bodyChallenge === null ? null : kit.challengeDifference(challenge, bodyChallenge);
  if (difference?.inTerms) return ['terms-differ', difference.text];
  const bytes = kit.headBytes(answer);
  if (bytes >= NODE_MAX_HEAD_BYTES) {
    const evidence = `sends ${bytes} bytes of headers: Node's fetch gives up, Python reads them`;
    return ['long-head', evidence];
  }
  if (difference !== null) return ['differs', difference.text];
  if (header.raw.length > MAX_HEADER_CHARS) {
    return ['too-long', `PAYMENT-REQUIRED has ${header.raw.length} characters`];
  }
  if (header.isUnpadded) {
    const { length } = header.raw;
    return ['unpadded', `PAYMENT-REQUIRED has ${length} characters and ${UNPADDED_NOTE}`];
  }
  const directives = kit.headers(answer, 'cache-control').join(',');
  if (!/(?:^|[\s,])(?:no-store|private)(?:$|[\s,=])/i.test(directives)) {
    return [
      'cacheable',
      directives === ''
        ? 'sends 402 without Cache-Control'
        : `sends 402 with Cache-Control ${kit.quote(directives)}`,
    ];
  }
  return null;
}

/** The evidence names another header that holds the challenge, because its seller believes that clients read it. */
function judgeAbsentHeader(
  answer: HttpData,
  version: 1 | 2,
  versionFix: string | undefined,
  kit: Kit,
): Flaw {
  if (version === 1)
    return ['v1-only', 'sends a version 1 body and no PAYMENT-REQUIRED', versionFix];
  const otherHeader = kit.otherHeader(answer);
  const place = otherHeader === null ? 'the body' : `the body, another in ${otherHeader},`;
  return ['missing', `sends a challenge in ${place} and no PAYMENT-REQUIRED`];
}

/**
 * Over MCP the structured result counts as the header, and the text of the result as the body. `offeredBy` names the
 * parties that had offered the extension org.x402/payment.
 */
function inspectTool(
  { reading }: ChallengedResource,
  { binding, isError, extension: offeredBy }: ToolFacts,
  kit: Kit,
): Flaw | null {
  const { header, body, challenge } = reading;
  if (challenge.version === 1) return ['v1-only', 'sends x402Version 1 in the result'];
  if (binding === 'extension') {
    if (offeredBy !== 'nobody') return null;
    return ['not-an-error', 'answers payment_required, which the request did not offer to read'];
  }
  if (isError !== true) return ['not-an-error', 'has a challenge in a result without isError'];
  if (header.state !== 'ok') return ['text-only', 'has the challenge only in content[0].text'];
  const textChallenge = body.ok ? kit.challengeIn(body.value, 'body') : null;
  if (textChallenge === null) return ['structured-only', 'has no challenge in content[0].text'];
  const difference = kit.challengeDifference(challenge, textChallenge);
  if (difference !== null) {
    return [difference.inTerms ? 'terms-differ' : 'differs', `${difference.text}, content[0].text`];
  }
  if (offeredBy !== 'both') return null;
  return ['other-binding', 'asks by a tool result, although both sides offer org.x402/payment'];
}
