/** What `--help` says; it loads nothing that a scan needs. */
import { callOf } from './call-form.ts';
import { FORMAT_NAMES } from './formatters/format-names.ts';

export const SCAN_USAGE = `usage: ${callOf('scan')} <origin> [flags]

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
  --mcp [PATH]             call the paid, read-only tools of its MCP endpoint too: at PATH, at the
                           path of <origin>, where its documents say, or at /mcp
  --timing                 how long it took, and how many requests it needed

  Exit 0: finished (and no threshold missed). 1: a threshold was missed. 2: bad usage, a refused
  origin, or a failure of ours.`;
