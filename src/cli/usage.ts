import { type CommandName, showCall } from './call-form.ts';
import { FORMAT_NAMES } from './formatters/format-names.ts';

/** The `--help` text of each command; its first line is printed on bad usage. */
export const USAGES: Readonly<Record<CommandName, string>> = {
  scan: `usage: ${showCall('scan')} <origin> [flags]

  --allow-private          http, private and loopback addresses, any port, for this one origin
  --format FORMAT          ${FORMAT_NAMES.join(', ')} (default text)
  --output FILE            write the report there instead of standard output
  --min-grade A|B|C|D      exit 1 below this grade
  --min-payable default|settings
                           exit 1 unless default clients can pay, or clients with settings
  --fail-on fail|warn      exit 1 where a printed check fails (or warns)
  --only P1,S*             print these checks; grade and score stay those of the whole scan
  --checks-version V       judge by this catalog instead of the newest
  --save FILE              keep what was seen, for --from
  --from FILE              judge a saved scan instead of asking the origin
  --source PATH=FILE       the file of your repository that the origin serves at PATH, as in
                           /openapi.json=docs/openapi.json: findings name its line; repeatable;
                           /=FILE is for findings about no document
  --offline                ask no index: the standing checks are not determined
  --rpc URL                a node of an EVM chain: advice on assets, domains and recipients, D3 and D4
  --solana-rpc URL         a node of Solana: advice on token accounts
  --mcp [PATH]             call the paid, read-only tools of its MCP endpoint too: at PATH, at the
                           path of <origin>, where its documents say, or at /mcp
  --timing                 how long it took, and how many requests it needed

  <origin> may name a resource, such as https://api.example.com/weather: it is asked too, and the
  text says whether agents can pay it. The grade is that of the origin.
  Exit 0: finished (and no threshold missed). 1: a threshold was missed. 2: bad usage, a refused
  origin, or a failure of ours.`,

  explain: `usage: ${showCall('explain')} <id> [--report FILE] [--stack NAME] [--public-url URL], such as P6 --stack express

  Why a check is there, its rule, its outcomes, and the patch that mends what it finds.
  Advice and what stands under "indexed" of a report are explained by their ids too.
  --report FILE            fill in the values of a report of scan --format json
  --stack NAME             print the patch for this stack alone
  --public-url URL         where the scanned address is local: the one that patches are to name`,

  diff: `usage: ${showCall('diff')} A.json B.json [--fail-on-regression] (reports of scan --format json)

  Which checks moved between two reports, by status and outcome.
  --fail-on-regression     exit 1 where grade, payableBy or the status of a check fell`,

  'pay-test': `usage: ${showCall('pay-test')} <your seller> [--start COMMAND] [flags]

  Pays your own seller with play money and a facilitator that misbehaves: trials T1 to T14.
  --start COMMAND          start the seller, with FACILITATOR_URL set to the facilitator of the test
  --route "GET /path"      a paid route; repeatable; default: those that a scan finds
  --failing-route "GET /path"
                           a paid route whose handler answers 5xx, for T14
  --body JSON              sent to POST routes; default: the bazaar example, else {}
  --only T1,T7             these trials alone
  --facilitator-port PORT  default: any that is free
  --facilitator-host HOST  a private address of this machine, for sellers in containers
  --facilitator-env NAME   a further variable that names the facilitator; repeatable
  --network NAME           a further eip155 network; repeatable
  --format FORMAT          ${FORMAT_NAMES.join(', ')} (default text)
  --output FILE            write the report there instead of standard output
  --fail-on fail|warn      exit 1 where a trial fails (or warns)

  Exit 0: finished. 1: a threshold was missed. 2: bad usage, or a seller that cannot be tested.`,

  preflight: `usage: ${showCall('preflight')} URL [--method M] [--max-price P] [--allow-private] [--strict] [--format text|json]

  Whether to pay a URL, asked once before anything is signed. Exit 0 for go and caution, 1 for no-go.
  --method M               the method that you are going to send (default GET); POST sends {}
  --max-price 0.05         in whole units of the asset: dearer is a no-go
  --allow-private          http, private and loopback addresses, any port, for this one origin
  --strict                 exit 1 for caution too
  --format text|json       default text`,

  mcp: `usage: ${showCall('mcp')} [--allow-private] [--service URL]

  Serves the tools for agents over standard input and output; scans are free, on this machine.
  --allow-private          let them ask http, private and loopback addresses, on any port
  --service URL            the service whose directory search_directory asks`,

  capture: `usage: ${showCall('capture')} <origin>|--from FILE --output FILE [--allow-private] [--offline] [--mcp] [--checks-version V]

  A recording fit for a bug report: no secrets, short bodies, the same verdicts.
  --output FILE            where it is written
  --from FILE              trim a recording of scan --save instead of asking an origin
  --allow-private, --offline, --mcp, --checks-version V
                           as of scan`,

  openapi: `usage: ${showCall('openapi')} FILE… [--fail-on fail|warn] [--checks-version V]

  Judges OpenAPI documents before they are served (S1 to S4), a line a finding. Exit 1 where one fails.
  --fail-on fail|warn      exit 1 for warnings too, with warn (default fail)
  --checks-version V       judge by this catalog instead of the newest`,

  verify: `usage: ${showCall('verify')} FILE [--keys URL|FILE] [--recording FILE]

  Proves a signed report of GET /v1/attestation: the signature, and that its key was in use when the
  scan began. Exit 0: all that was asked is proved. 1: it is not. 2: bad usage, or no envelope.
  --keys URL|FILE          the key set that you trust (default: that of the site which the report
                           names, where it is public; anybody can sign for a site of his own)
  --recording FILE         what was seen: its digest, its time, and every result judged again`,
};

/** The first line of a command's usage. */
export function usageLine(command: CommandName): string {
  return USAGES[command].split('\n', 1).join('');
}
