/** Requires well-formed members of a check, and the same outcomes in its code, README and cases. */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Type } from 'typebox';
import { Value } from 'typebox/value';
import {
  CheckModuleError,
  type DiscoveredCheck,
  discoverChecks,
} from '../../src/scanner/engine/catalog/discover-checks.ts';
import type { CheckDefinition } from '../../src/scanner/engine/define-check.ts';
import type { ObservationName } from '../../src/scanner/model/observations.ts';
import { messageOf } from '../../src/scanner/model/redact.ts';
import { ENGINE_OUTCOMES } from '../../src/scanner/model/verdict.ts';
import { findRelationBreaches } from './check-relations.ts';
import type { Finding, HouseRule } from './finding.ts';
import type { SourceTree } from './source-tree.ts';

/** The names that a check's `needs` may have; the compiler checks that none is missing. */
const IS_OBSERVATION: Readonly<Record<ObservationName, true>> = {
  origin: true,
  probing: true,
  root: true,
  soft404: true,
  openapi: true,
  openapiAlternates: true,
  manifest: true,
  manifestJson: true,
  llmsTxt: true,
  agentCard: true,
  agentJson: true,
  robots: true,
  resources: true,
  links: true,
  icons: true,
  payability: true,
  x402scan: true,
  settlements: true,
  listing: true,
  browser: true,
  bazaar: true,
  chain: true,
};

const CASES = Type.Array(
  Type.Object({
    versions: Type.Optional(Type.Array(Type.Integer())),
    expect: Type.Object({ outcome: Type.String() }),
  }),
);
type Cases = Type.Static<typeof CASES>;
/** Placeholder that "npm run check:new" writes. */
const TEMPLATE_PLACEHOLDER = /\b[Ss]ay in one (?:imperative )?(?:line|sentence) what\b/;
const DEFINITION = /^export default defineCheck\(\{$/m;
const NOTHING_SAID =
  'says nothing yet: write the header, the fixes, what is right and what is wrong';
const OUTCOME = /^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/;
const SENTENCE = /^[A-Z/].{10,118}[.]$/;

export const checkOutcomes: HouseRule = async (tree) => {
  if (!tree.files.some((file) => file.startsWith('checks/'))) return [];
  try {
    const checks = await discoverChecks(pathToFileURL(`${join(tree.root, 'checks')}/`));
    // The compiler checks the members only of a check that calls `defineCheck`.
    const typed = checks.filter((check) => DEFINITION.test(tree.read(toPath(check))));
    const untyped = checks.filter((check) => !typed.includes(check));
    const shapes = typed.flatMap((check) =>
      listShapeBreaches(check.definition).map((breach) => toFinding(toPath(check), breach)),
    );
    const versions = await Promise.all(typed.map((check) => lintVersion(tree, check)));
    return [
      ...untyped.map((check) =>
        toFinding(toPath(check), 'must say "export default defineCheck({"'),
      ),
      ...findRelationBreaches(
        checks.filter(({ definition }) => Array.isArray(definition.requires)),
      ),
      ...shapes,
      ...versions.flat(),
    ];
  } catch (error) {
    if (error instanceof CheckModuleError) return [parseBreach(error.message)];
    throw error;
  }
};

function toPath({ id, title, version }: DiscoveredCheck): string {
  return `checks/${id}-${title}/v${version}.ts`;
}

/** Lists the malformed members of a check. The service does not look for them when it starts. */
export function listShapeBreaches(check: CheckDefinition): readonly string[] {
  const { needs, requires, outcomes, says } = check;
  const vague = [says.right, says.wrong, says.unjudged].filter(
    (sentence) => !SENTENCE.test(sentence),
  );
  const repeated = [needs, requires, outcomes].flatMap((list: readonly string[]) =>
    list.filter((one, index) => list.indexOf(one) !== index),
  );
  return [
    ...(needs.length === 0 ? ['needs is empty: a check judges at least one observation'] : []),
    ...needs
      .filter((name) => !Object.hasOwn(IS_OBSERVATION, name))
      .map((name) => `needs "${name}", which is not an observation`),
    ...(outcomes.length === 0 ? ['outcomes is empty'] : []),
    ...vague.map((sentence) => `says "${sentence}": write one sentence of 12 to 120 characters`),
    ...outcomes
      .filter((outcome) => !OUTCOME.test(outcome))
      .map((outcome) => `outcome "${outcome}" must be lower-case words with hyphens`),
    ...ENGINE_OUTCOMES.filter((outcome) => outcomes.includes(outcome)).map(
      (outcome) => `outcome "${outcome}" belongs to the engine; leave it out of the list`,
    ),
    ...repeated.map((entry) => `"${entry}" is listed twice`),
  ];
}

/** Parses the engine's error: "checks/P6-price-integrity/v2.ts exports no check: why". */
function parseBreach(message: string): Finding {
  const [, file = 'checks', what = message] = /^(checks\/\S+) (.+)$/s.exec(message) ?? [];
  return toFinding(file, what);
}

async function lintVersion(tree: SourceTree, check: DiscoveredCheck): Promise<Finding[]> {
  const { version, definition } = check;
  const folder = `checks/${check.id}-${check.title}/`;
  const readme = `${folder}README.md`;
  const file = `${folder}cases.ts`;
  // check-folders reports missing files.
  if (!tree.has(readme) || !tree.has(file)) return [];
  const cases = await loadCases(tree, file);
  if ('message' in cases) return [cases];

  const casesOfVersion = cases.filter((checkCase) => checkCase.versions?.includes(version) ?? true);
  const expected = new Set(casesOfVersion.map((checkCase) => checkCase.expect.outcome));
  const possible = new Set<string>([...definition.outcomes, ...ENGINE_OUTCOMES]);
  const rule = readRule(tree.read(readme), version);
  const undocumented = definition.outcomes.filter((one) => !rule.includes(`\`${one}\``));
  const positions = definition.outcomes.map((one) => rule.indexOf(`\`${one}\``));
  const misplaced = definition.outcomes.find(
    (_, index) => index > 0 && (positions[index] ?? 0) < (positions[index - 1] ?? 0),
  );
  const unreached = definition.outcomes.filter((one) => !expected.has(one));
  const impossible = [...expected].filter((one) => !possible.has(one));
  const hasPlaceholder = TEMPLATE_PLACEHOLDER.test(tree.read(toPath(check)));
  return [
    ...(hasPlaceholder ? [toFinding(toPath(check), NOTHING_SAID)] : []),
    ...undocumented.map((one) =>
      toFinding(readme, `\`${one}\` of v${version} is not in it: say under Rule when it is found`),
    ),
    ...(misplaced === undefined || undocumented.length > 0
      ? []
      : [
          toFinding(
            readme,
            `\`${misplaced}\` stands before what precedes it in v${version}: keep one order`,
          ),
        ]),
    ...unreached.map((one) =>
      toFinding(file, `no case reaches ${one} of v${version}: add one, or take the outcome away`),
    ),
    ...impossible.map((one) =>
      toFinding(file, `a case expects ${one}, which v${version} does not have among its outcomes`),
    ),
  ];
}

/** If versions differ, the README has a section "### Version 2: …" for each. */
function readRule(readme: string, version: number): string {
  const [, after = ''] = readme.split('\n## Rule\n');
  const rule = after.split('\n## ')[0] ?? '';
  const [, ruleOfVersion] = rule.split(`\n### Version ${version}`);
  return ruleOfVersion?.split('\n### ')[0] ?? rule;
}

async function loadCases(tree: SourceTree, file: string): Promise<Cases | Finding> {
  try {
    const module: unknown = await import(
      /* @vite-ignore */ pathToFileURL(join(tree.root, file)).href
    );
    const exported =
      typeof module === 'object' && module !== null && 'default' in module && module.default;
    return Value.Parse(CASES, exported);
  } catch (error) {
    const [why] = messageOf(error).split('\n');
    return toFinding(
      file,
      `cannot be read (${why}): its default export is a list of cases, see CheckCase`,
    );
  }
}

function toFinding(file: string, message: string): Finding {
  return { file, line: 1, message };
}
