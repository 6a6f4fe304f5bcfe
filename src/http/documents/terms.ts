import { MOCK_NOTICE, PATHS, SERVICE_NAME, type ServiceFacts } from './service-facts.ts';

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
    text: 'A scan is read-only and never sends a payment: it makes GET and HEAD requests. If the catalog says so, it also sends a POST with an empty JSON object to operations that the OpenAPI document or the manifest of the origin sells for a price, and a second time only if the first was answered with 402. What an index lists is requested by GET only. Loopback, private and link-local addresses are never contacted.',
  },
  {
    title: 'Charges',
    text: 'Paid operations are charged per call, after a successful result is computed. Errors are never charged. A completed scan of an unreachable or broken origin is a result and is charged. Sales are final, except that charge without delivery should not occur. The payment header of a settled call retrieves its answer again for 24 hours.',
  },
  {
    title: 'Data',
    text: 'No personal data is collected. The submitted origin URL and the result of each check are kept for up to 24 hours. A paid answer is kept for 24 hours after its settlement. A recording that a caller requested is kept for one hour. Payment settlement facts (payer address, transaction hash) may be logged. The directory keeps host, grade, score, counts and the history of grades and of who can pay. Statistics keep the results of the first published scan of a host in a UTC day until some minutes after that day. After that they keep only sums, which name no host. A sum of at least ten hosts is kept for 31 days. If an owner opts out, results that are not yet summed are deleted at once; sums of earlier days stay.',
  },
  {
    title: 'Watches',
    text: 'An owner who proved control of an origin may start a watch of it. We scan the origin once a day, send a request to each of its paid resources every hour, and send changes to the webhook that the owner gave. These results are not published. We keep the webhook, the last results, undelivered events and the secret that signs them (the operator of the service can read it) while the watch lasts, and delete them 30 days after its end.',
  },
  {
    title: 'Listing and opt-out',
    text: 'Every origin that is scanned, also when a third party asked for the scan, may be listed in the public directory with its grade and with branding that was copied automatically and is unverified. An operator who proves control of the domain with a one-time token can have the origin removed or its branding hidden; this is honoured within 24 hours.',
  },
  { title: 'Fair use', text: 'Free routes may be throttled or blocked under abusive traffic.' },
  {
    title: 'Changes',
    text: 'Changes to these terms revise their version, date and canonical URL. Continued use is acceptance.',
  },
];

/** Only revisions that show the census have this section, after the section on watches. */
const CENSUS_SECTION: Section = {
  title: 'Publication and the census',
  text: 'Results reach the public once a payer has settled or the census has scanned. The operator of the service may run a census of the origins that public indexes list. The census may send each origin, once a day, the requests that the indexes list for at most two of its resources, without a payment, and may scan it once a week. It sends a POST only to what the origin sells by its own documents or has answered with a challenge, unless the operator decided otherwise (see /about-census). The directory shows the result of a day (payable, not payable, down, not checked) for 30 days, and a weekly scan is published like a paid scan. The census follows robots.txt and leaves out origins that opted out; /about-census says who asks and how an origin can be left out.',
};

const MACHINE_SUMMARY =
  'Not a demo. Informational only, not advice. No personal data collected. Errors are not charged. A grade is about protocol conformance only. Scanned origins are listed publicly, including scans by third parties. Opt-out is available. Verification is by a domain-control token.';

/** Makes `/terms.json`. */
export function toTermsDocument({ baseUrl, siteUrl, isLive, showsCensus }: ServiceFacts) {
  return {
    version: VERSION,
    effectiveDate: EFFECTIVE_DATE,
    url: `${baseUrl}${PATHS.terms}`,
    contact: siteUrl,
    machineSummary: isLive ? MACHINE_SUMMARY : `${MACHINE_SUMMARY} ${MOCK_NOTICE}`,
    sections: SECTIONS.flatMap((section) =>
      showsCensus && section.title === 'Watches' ? [section, CENSUS_SECTION] : [section],
    ),
  };
}

/** Writes `/terms.txt`, the same terms as plain text. */
export function writeTerms(facts: ServiceFacts): string {
  const { version, effectiveDate, url, contact, machineSummary, sections } = toTermsDocument(facts);
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
