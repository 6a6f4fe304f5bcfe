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
    text: 'A scan is read-only and never sends a payment: it makes GET and HEAD requests, and, if the catalog says so, a POST of an empty JSON object to resources that are declared paid. Loopback, private and link-local addresses are never contacted.',
  },
  {
    title: 'Charges',
    text: 'Paid operations are charged per call, after a successful result is computed. Errors are never charged. A completed scan of an unreachable or broken origin is a result and is charged. Sales are final, except that charge without delivery should not occur: the payment header of a settled call retrieves its answer again for 24 hours.',
  },
  {
    title: 'Data',
    text: 'No personal data is collected. The submitted origin URL and the results of the single checks are kept for up to 24 hours. A paid answer is kept for 24 hours after its settlement, a recording that a caller requested is kept for an hour beside it. Payment settlement facts (payer address, transaction hash) may be logged. The directory keeps host, grade, score, counts and the history of grades and of who can pay. Statistics keep the results of the first published scan of a host in a UTC day until some minutes after that day. Then they keep sums without hosts, for 31 days once a sum holds ten hosts. If an owner opts out, results that are not yet summed are removed at once; sums of earlier days stay.',
  },
  {
    title: 'Watches',
    text: 'An owner who proved control of an origin may have it watched. We scan it once a day, send a request to its paid resources every hour, and send changes to the webhook that the owner gave. These results are not published. We keep the webhook, the last results, undelivered events and the secret that signs them (the operator of the service can read it) while the watch lasts, and delete them 30 days after its end.',
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

/** Stands behind the section on watches, in revisions that tell of the census. */
const CENSUS: Section = {
  title: 'Publication and the census',
  text: 'Results reach the public once a payer has settled or the census has scanned. An operator may have a census made of the origins that public indexes list: each may be looked at once a day, by the unpaid requests that the indexes list for two of its resources at most, and scanned once a week. The word of a day (payable, not payable, down, not checked) is shown for 30 days in the directory, and a weekly scan is published as a paid one is. The census keeps to robots.txt and leaves out whoever opted out; /about-census says who asks and how to be left out.',
};

const MACHINE_SUMMARY =
  'Not a demo. Informational only, not advice. No personal data collected. Errors are not charged. A grade is about protocol conformance only. Scanned origins are listed publicly, including scans by third parties. Opt-out is available. Verification is by a domain-control token.';

const MOCK_SUMMARY =
  'This instance runs with mock payments: signatures are verified, nothing is settled.';

/** `/terms.json` (interface spec 2.9). */
export function termsDocument({ baseUrl, siteUrl, isLive, showsCensus }: ServiceFacts) {
  return {
    version: VERSION,
    effectiveDate: EFFECTIVE_DATE,
    url: `${baseUrl}${PATHS.terms}`,
    contact: siteUrl,
    machineSummary: isLive ? MACHINE_SUMMARY : `${MACHINE_SUMMARY} ${MOCK_SUMMARY}`,
    sections: SECTIONS.flatMap((section) =>
      showsCensus && section.title === 'Watches' ? [section, CENSUS] : [section],
    ),
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
