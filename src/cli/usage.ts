import { type ParseArgsConfig, parseArgs } from 'node:util';
import { messageOf } from '../scanner/model/redact.ts';

export const COMMAND_NAMES = [
  'scan',
  'explain',
  'diff',
  'pay-test',
  'preflight',
  'mcp',
  'capture',
  'openapi',
  'verify',
] as const;
export type CommandName = (typeof COMMAND_NAMES)[number];

/** A clone runs the TypeScript sources by npm scripts; the package runs by its name. */
const IS_CLONE = import.meta.url.endsWith('.ts');
const COMMANDS_WITH_SCRIPT: readonly CommandName[] = [
  'scan',
  'explain',
  'diff',
  'pay-test',
  'verify',
];

/** The words that start a command: "npm run explain --" or "x402-scan explain". */
export function showCall(command: CommandName): string {
  if (!IS_CLONE) return `x402-scan ${command}`;
  return COMMANDS_WITH_SCRIPT.includes(command)
    ? `npm run ${command} --`
    : `npm run scan -- ${command}`;
}

/** These names are in this file, so that help loads no formatter. */
export const FORMAT_NAMES = [
  'text',
  'json',
  'sarif',
  'junit',
  'markdown',
  'github',
  'codequality',
] as const;

export type FormatName = (typeof FORMAT_NAMES)[number];
export const FAIL_ON_VALUES = ['fail', 'warn'] as const;

/** The `--help` text of each command; its first line is printed on bad usage. */
export const USAGES: Readonly<Record<CommandName, string>> = {
  scan: `usage: ${showCall('scan')} <origin> [flags]

  --allow-private          allow http, private and loopback addresses, any port, for this one origin
  --method GET|POST        method of the path in <origin>; POST sends {} (default: POST only if the
                           documents sell it, or with --allow-private)
  --format FORMAT          ${FORMAT_NAMES.join(', ')} (default text)
  --output FILE            write the report there instead of standard output
  --min-grade A|B|C|D      exit 1 below this grade
  --min-payable default|settings
                           exit 1 unless official x402 clients can pay: with their defaults
                           (default) or with extra settings (settings)
  --fail-on fail|warn      exit 1 if a printed check fails (or warns)
  --only P1,S*             print these checks; grade and score stay those of the whole scan
  --checks-version V       judge by this catalog instead of the newest; service: by the catalog of
                           the service
  --save FILE              save a recording of the answers, for --from
  --from FILE              judge a recording; send no request
  --source PATH=FILE       name FILE and its line in findings about the document at PATH, such as
                           /openapi.json=docs/openapi.json; repeatable; /=FILE is for findings
                           about no document
  --offline                ask no index; the checks of standing are then not determined
  --rpc URL                ask this EVM node, for D3, D4 and advice on assets, domains and recipients
  --solana-rpc URL         ask this Solana node, for advice on token accounts
  --mcp [PATH]             also call the paid, read-only tools of the MCP endpoint: at PATH, else at
                           the path of <origin>, else where its documents say, else at /mcp
  --timing                 print the duration and the number of requests

  <origin> may be a resource, such as https://api.example.com/weather: the scan requests it too,
  and the text says whether agents can pay it. The grade is that of the origin.
  Exit 0: finished, no threshold missed. 1: a threshold was missed. 2: bad usage, a refused
  origin, or a failure of the scanner.`,

  explain: `usage: ${showCall('explain')} <id> [--report FILE] [--stack NAME] [--public-url URL] [--offer PAIR], such as P6 --stack express

  Prints why a check exists, its rule, its outcomes, and the patch that mends what it finds.
  <id> may also be "indexed", a trial of pay-test (T1 to T18), or the id of an advice.
  --report FILE            fill in the values of a report of scan --format json
  --stack NAME             print only the patch for this stack
  --public-url URL         the public address for patches, after a scan of a local address
  --offer SCHEME,NETWORK   for P3: how offers of this pair are judged, such as exact,hedera:mainnet`,

  diff: `usage: ${showCall('diff')} A.json B.json [--fail-on-regression] (reports of scan --format json)

  Lists the checks whose status or outcome changed between two reports.
  --fail-on-regression     exit 1 if the grade, payableBy or the status of a check fell`,

  'pay-test': `usage: ${showCall('pay-test')} <your seller> [--start COMMAND] [flags]

  Pays your own seller with play money, through a facilitator that fails on purpose (T1 to T18).
  --start COMMAND          start the seller, with FACILITATOR_URL set to the facilitator of the test
  --route "GET /path"      pay this route; repeatable; default: the paid routes that a scan finds
  --failing-route "GET /path"
                           a paid route whose handler answers 5xx, for T14
  --body JSON              send this to POST routes; default: the bazaar example, else {}
  --only T1,T7             run only these trials
  --facilitator-port PORT  open the facilitator on this port; default: any free one
  --facilitator-host HOST  open it on this private address, for sellers in containers
  --facilitator-env NAME   also set this variable to the facilitator's address; repeatable
  --network NAME           support a further eip155 network; repeatable
  --format FORMAT          ${FORMAT_NAMES.join(', ')} (default text)
  --output FILE            write the report there instead of standard output
  --fail-on fail|warn      exit 1 if a trial fails (or warns)

  Exit 0: finished. 1: a threshold was missed. 2: bad usage, or a seller that cannot be tested.`,

  preflight: `usage: ${showCall('preflight')} URL [--method M] [--max-price P] [--allow-private] [--strict] [--format text|json]

  Requests the URL once, signs nothing, and says whether to pay it. Exit 0: go or caution. 1: no-go.
  --method M               the method that you will pay for (default GET); POST sends {}
  --max-price 0.05         the most that you would pay, in whole units of the asset
  --allow-private          allow http, private and loopback addresses, any port, for this one origin
  --strict                 exit 1 for caution too
  --format text|json       default text`,

  mcp: `usage: ${showCall('mcp')} [--allow-private] [--service URL]

  Serves MCP tools to agents over standard input and output. Scans run on this machine, for free.
  --allow-private          allow http, private and loopback addresses, on any port
  --service URL            the service whose directory search_directory asks`,

  capture: `usage: ${showCall('capture')} <origin>|--from FILE --output FILE [--allow-private] [--offline] [--mcp] [--checks-version V]

  Writes a recording for a bug report. It has no secrets, short bodies, and the same verdicts.
  --output FILE            write the recording there
  --from FILE              trim a recording of scan --save; send no request
  --allow-private, --offline, --mcp, --checks-version V
                           as for scan`,

  openapi: `usage: ${showCall('openapi')} FILE… [--fail-on fail|warn] [--checks-version V]

  Judges OpenAPI documents before you serve them (S1 to S4). A file that ends in .yaml or .yml is
  read as YAML, any other as JSON. Exit 1 if one fails, 2 if one is neither JSON nor YAML.
  --fail-on fail|warn      exit 1 if a document fails (or warns); default fail
  --checks-version V       judge by this catalog instead of the newest; service: by the catalog of
                           the service`,

  verify: `usage: ${showCall('verify')} FILE [--keys URL|FILE] [--recording FILE]

  Proves the signature of a report from GET /v1/attestation, and that its key was in use when the
  scan began. Exit 0: every requested proof holds. 1: a proof fails. 2: bad usage, or no envelope.
  --keys URL|FILE          the key set that you trust (default: that of the public site which the
                           report names; anybody can sign reports for a site of their own)
  --recording FILE         also prove the recording's digest and time, and judge every result again`,
};

export function usageLine(command: CommandName): string {
  return USAGES[command].replace(/\n.*/s, '');
}

/** Throws UsageError for an unknown flag and for a flag without its value. */
export function readFlags<const T extends NonNullable<ParseArgsConfig['options']>>(
  command: CommandName,
  args: readonly string[],
  options: T,
  allowPositionals = true,
) {
  try {
    return parseArgs({ args: [...args], options, allowPositionals });
  } catch (error) {
    // Node adds a hint about positionals that start with "-". No command here accepts such positionals.
    const [problem] = messageOf(error).split(/\n|\. To specify /);
    throw new UsageError(`${problem} (${showCall(command)} --help lists the flags)`);
  }
}

/** Throws a UsageError that lists the accepted values. */
export function parseChoice<const T extends string>(
  flag: string,
  value: string,
  accepted: readonly T[],
): T {
  const choice = accepted.find((candidate) => candidate === value);
  if (choice !== undefined) return choice;
  throw new UsageError(`${flag} ${JSON.stringify(value)} is not one of ${accepted.join(', ')}`);
}

/** Returns null for an absent flag. Throws like `parseChoice`. */
export function parseOptionalChoice<const T extends string>(
  flag: string,
  value: string | undefined,
  accepted: readonly T[],
): T | null {
  return value === undefined ? null : parseChoice(flag, value, accepted);
}

/** Bad usage. The command line prints the message as one line on standard error and exits with 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
