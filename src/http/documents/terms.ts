import { PATHS, SERVICE_NAME, type ServiceFacts } from './service-facts.ts';

const VERSION = '0.2';
const EFFECTIVE_DATE = '2026-08-14';

type Section = { readonly title: string; readonly text: string };

const SECTIONS: readonly Section[] = [
  {
    title: 'What a grade is',
    text: 'Findings are informational and provided as-is. A grade measures x402 protocol conformance only. It is not advice, not an endorsement, and not a safety or legitimacy assessment. There is no guarantee of uptime or latency.',
  },
  {
    title: 'What a scan does',
    text: 'A scan is read-only and never sends a payment: it makes GET and HEAD requests, and, where the catalog says so, a POST of an empty JSON object to resources that are declared paid. Loopback, private and link-local addresses are never contacted.',
  },
  {
    title: 'Charges',
    text: 'Paid operations are charged per call, after a successful result is computed. Errors are never charged. A completed scan of an unreachable or broken origin is a result and is charged. Sales are final, except that charge without delivery should not occur: the payment header of a settled call retrieves its answer again for 24 hours.',
  },
  {
    title: 'Data',
    text: 'No personal data is collected. The submitted origin URL and the results of the single checks are kept for up to 24 hours. A paid answer is kept for 24 hours after its settlement, a recording that was asked for an hour beside it. Payment settlement facts (payer address, transaction hash) may be logged. The directory keeps host, grade, score, counts and the history of grades and of who can pay. Statistics keep what the first published scan of a host in a UTC day found until some minutes after that day, and then sums without hosts, for 31 days once they hold ten; what an origin that is opted out added to days that are not yet summed is removed at once, sums of earlier days stay.',
  },
  {
    title: 'Watches',
    text: 'An owner who proved control of an origin may have it watched: it is scanned once a day and its paid resources are asked every hour, and what changes is sent to the webhook that the owner gave. These looks are not published. The webhook, what the last looks saw, undelivered events and the secret that signs them (readable by who runs the service) are kept while the watch lasts and deleted 30 days after its end.',
  },
  {
    title: 'Listing and opt-out',
    text: 'Every origin that is scanned, also when a third party asked for the scan, may be listed in the public directory with its grade and with branding that was copied automatically and is unverified. An operator who proves control of the domain with a one-time token can have the origin removed or its branding hidden; this is honoured within 24 hours.',
  },
  {
    title: 'Fair use',
    text: 'Free routes may be throttled or blocked under abusive traffic.',
  },
  {
    title: 'Changes',
    text: 'Changes to these terms revise their version, date and canonical URL. Continued use is acceptance.',
  },
];

const MACHINE_SUMMARY =
  'Not a demo. Informational only, not advice. No personal data collected. Errors are not charged. A grade is about protocol conformance only. Scanned origins are listed publicly, including scans by third parties. Opt-out is available. Verification is by a domain-control token.';

const MOCK_SUMMARY =
  'This instance runs with mock payments: signatures are verified, nothing is settled.';

/** `/terms.json` (interface spec 2.9). */
export function termsDocument({ baseUrl, siteUrl, isLive }: ServiceFacts) {
  return {
    version: VERSION,
    effectiveDate: EFFECTIVE_DATE,
    url: `${baseUrl}${PATHS.terms}`,
    contact: siteUrl,
    machineSummary: isLive ? MACHINE_SUMMARY : `${MACHINE_SUMMARY} ${MOCK_SUMMARY}`,
    sections: SECTIONS,
  };
}

/** `/terms.txt`: the terms as text for people. */
export function termsText(facts: ServiceFacts): string {
  const { version, effectiveDate, url, contact, machineSummary, sections } = termsDocument(facts);
  const head = [
    `${SERVICE_NAME}: terms of service`,
    `Version ${version}, effective ${effectiveDate}`,
    `Canonical URL: ${url}`,
    `Contact: ${contact}`,
    '',
    `In short: ${machineSummary}`,
  ];
  const body = sections.flatMap(({ title, text }, index) => ['', `${index + 1}. ${title}`, text]);
  return `${[...head, ...body].join('\n')}\n`;
}
