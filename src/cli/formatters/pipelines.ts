/** Formats that build servers read: annotations of GitHub, Code Quality of GitLab, SARIF, JUnit. */
import { createHash } from 'node:crypto';
import type { NamedPath } from '../../scanner/model/report.ts';
import type { SourceLocation } from '../sources.ts';
import { defuseCommands, escapeLinks, escapeXmlCommands, toPrintedJson } from './escapes.ts';
import {
  type Findings,
  findFaultyNamedPath,
  isProblem,
  NAMED_PATH_RULE,
  type PrintedFinding,
  toFallbackLocation,
} from './findings.ts';

/**
 * Writes one workflow command for each problem, and one for the headline. A problem has the file and line that
 * `--source` names, or else those of the pipeline. A command needs no file, so without a pipeline it may have none.
 * https://docs.github.com/actions/reference/workflows-and-actions/workflow-commands
 */
export function formatGithub(findings: Findings): string {
  const { title, target, headline, items, pipelineFile } = findings;
  const fallback = pipelineFile === null ? null : toFallbackLocation(findings);
  const lines = items.filter(isProblem).map(({ status, label, text, location }) => {
    const place = location ?? fallback;
    const position = place === null ? '' : `file=${escapeProperty(place.file)},line=${place.line},`;
    return formatAnnotation(status === 'fail' ? 'error' : 'warning', position, label, text);
  });
  return `${[...lines, formatAnnotation('notice', '', title, `${target}: ${headline}`)].join('\n')}\n`;
}

function formatAnnotation(level: string, position: string, title: string, text: string): string {
  return `::${level} ${position}title=${escapeProperty(title)}::${escapeData(text)}`;
}

/** The text may quote an origin, and a line break in it must not begin a command. */
function escapeData(text: string): string {
  return defuseCommands(text)
    .replaceAll('%', '%25')
    .replaceAll('\r', '%0D')
    .replaceAll('\n', '%0A');
}

function escapeProperty(text: string): string {
  return escapeData(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}

/** Writes a Code Quality report of GitLab. https://docs.gitlab.com/ci/testing/code_quality/ */
export function formatCodeQuality(findings: Findings): string {
  const { target, items } = findings;
  const entries = [...listNamedPathEntries(findings), ...items.filter(isProblem).map(toEntry)];
  return toPrintedJson(
    entries.map(({ id, identity, description, severity, location }) => {
      const { file, line } = location ?? toFallbackLocation(findings);
      return {
        description: escapeLinks(description),
        check_name: `x402/${id}`,
        fingerprint: createHash('sha256').update(`${target} ${id} ${identity}`).digest('hex'),
        severity,
        location: { path: file, lines: { begin: line } },
      };
    }),
  );
}

type QualityEntry = Pick<PrintedFinding, 'id' | 'identity' | 'severity' | 'location'> & {
  readonly description: string;
};

function toEntry({ label, text, ...finding }: PrintedFinding): QualityEntry {
  return { ...finding, description: `${label}: ${text}` };
}

function listNamedPathEntries(findings: Findings): readonly QualityEntry[] {
  const namedPath = findFaultyNamedPath(findings);
  if (namedPath === null) return [];
  const { method, path, words: description } = namedPath;
  const identity = `${method} ${path}`;
  return [{ id: NAMED_PATH_RULE, identity, severity: 'info', location: null, description }];
}

/**
 * Writes SARIF 2.1.0 for code scanning: one rule for each check or trial, and one result for each
 * warning or failure. https://docs.oasis-open.org/sarif/sarif/v2.1.0/
 */
export function formatSarif(findings: Findings): string {
  const { tool, fingerprintName, sarifProperties, rules, items } = findings;
  const ids = rules.map(({ id }) => id);
  const namedPath = findFaultyNamedPath(findings);
  return toPrintedJson({
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: {
          driver: {
            ...tool,
            rules: [
              ...rules.map(({ id, name, description, help, properties }) => ({
                id,
                name,
                shortDescription: { text: escapeLinks(description) },
                help: { text: escapeLinks(help) },
                properties,
              })),
              ...(namedPath === null ? [] : [NAMED_PATH_RULE_TEXT]),
            ],
          },
        },
        properties: sarifProperties,
        results: [
          ...items.filter(isProblem).map((item) => ({
            ruleId: item.id,
            ruleIndex: ids.indexOf(item.id),
            level: item.status === 'fail' ? 'error' : 'warning',
            message: { text: escapeLinks(item.text) },
            locations: [
              { physicalLocation: toSarifLocation(item.location ?? toFallbackLocation(findings)) },
            ],
            partialFingerprints: { [fingerprintName]: `${item.id}/${item.identity}` },
            properties: item.properties,
          })),
          ...(namedPath === null ? [] : [toNamedPathResult(namedPath, findings)]),
        ],
      },
    ],
  });
}

const NAMED_PATH_RULE_TEXT = {
  id: NAMED_PATH_RULE,
  name: 'named-path',
  shortDescription: { text: 'The answer of the path that the command names. It moves no grade.' },
  help: { text: 'Guard the path with the payment middleware, or name another path.' },
};

/** Has the level `note`, because it moves no grade. Code scanning shows results, and no properties of a run. */
function toNamedPathResult({ method, path, words }: NamedPath, findings: Findings): object {
  return {
    ruleId: NAMED_PATH_RULE,
    ruleIndex: findings.rules.length,
    level: 'note',
    message: { text: escapeLinks(words) },
    locations: [{ physicalLocation: toSarifLocation(toFallbackLocation(findings)) }],
    partialFingerprints: { [findings.fingerprintName]: `${NAMED_PATH_RULE}/${method} ${path}` },
  };
}

/**
 * SARIF 2.1.0, section 3.29. Code scanning matches only relative URIs with files. It refuses a whole upload if one URI
 * has another scheme than the checkout, so colons are escaped: in a file "c:x", "c" would be a scheme.
 */
function toSarifLocation({ file, line }: SourceLocation): object {
  const uri = file.split('/').map(encodeURIComponent).join('/');
  return { artifactLocation: { uri }, region: { startLine: line } };
}

export function formatJunit(findings: Findings): string {
  const { title, target, timestamp, junitProperties, items } = findings;
  const count = (status: PrintedFinding['status']) =>
    items.filter((item) => item.status === status).length;
  const countAttributes = `tests="${items.length}" failures="${count('fail')}" skipped="${count('skipped')}"`;
  const timeAttribute = timestamp === undefined ? '' : ` timestamp="${timestamp}"`;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="${escapeXml(title)}" ${countAttributes}>`,
    `  <testsuite name="${escapeXml(target)}"${timeAttribute} ${countAttributes}>`,
    '    <properties>',
    ...junitProperties.map(
      ([key, value]) => `      <property name="${escapeXml(key)}" value="${escapeXml(value)}"/>`,
    ),
    '    </properties>',
    ...items.map(writeCase),
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n');
}

function writeCase({ name, group, status, kind, text, location }: PrintedFinding): string {
  const place =
    location === null ? '' : ` file="${escapeXml(location.file)}" line="${location.line}"`;
  const openTag = `    <testcase name="${escapeXml(name)}" classname="${escapeXml(group)}"${place}`;
  const escapedText = escapeXml(text);
  switch (status) {
    case 'skipped':
      return `${openTag}><skipped message="${escapedText}"/></testcase>`;
    case 'fail':
      return `${openTag}><failure type="${escapeXml(kind)}" message="${escapedText}"/></testcase>`;
    case 'warn':
      return `${openTag}><system-out>${escapedText}</system-out></testcase>`;
    case 'pass':
      return `${openTag}/>`;
  }
}

/** Characters that XML 1.0 forbids even when escaped: https://www.w3.org/TR/xml/#charsets */
const FORBIDDEN_IN_XML = /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu;

function escapeXml(text: string): string {
  const escaped = text
    .replace(FORBIDDEN_IN_XML, '')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&apos;')
    .replaceAll('\n', '&#10;')
    .replaceAll('\r', '&#13;');
  return escapeXmlCommands(escaped);
}
