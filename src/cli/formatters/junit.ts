/** JUnit XML: one test case for each check; a warning passes and is printed in system-out. */
import type { CheckResult } from '../../model/report.ts';
import { answerLine } from '../../payable/answer-line.ts';
import { findingText } from './findings.ts';
import type { Printable } from './printable.ts';
import { escapeXmlCommands } from './workflow-commands.ts';

export function formatJunit({ report, printed }: Printable): string {
  const failures = printed.filter(({ status }) => status === 'fail').length;
  const skipped = printed.filter(({ basis }) => basis === 'not_determined').length;
  const counts = `tests="${printed.length}" failures="${failures}" skipped="${skipped}"`;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="x402 conformance" ${counts}>`,
    `  <testsuite name="${escapeXml(report.origin)}" timestamp="${report.scannedAt}" ${counts}>`,
    '    <properties>',
    `      <property name="grade" value="${report.grade}"/>`,
    `      <property name="score" value="${report.score}"/>`,
    `      <property name="payableBy" value="${report.payableBy ?? 'unknown'}"/>`,
    `      <property name="answer" value="${escapeXml(answerLine(report))}"/>`,
    ...report.advice.map(
      (advice) =>
        `      <property name="advice/${advice.id}" value="${escapeXml(findingText(advice))}"/>`,
    ),
    `      <property name="checksVersion" value="${escapeXml(report.checksVersion)}"/>`,
    '    </properties>',
    ...printed.map(testCase),
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n');
}

function testCase(result: CheckResult): string {
  const name = escapeXml(`${result.id} ${result.title}`);
  const open = `    <testcase name="${name}" classname="${result.category}"`;
  const detail = escapeXml(findingText(result));
  if (result.basis === 'not_determined') return `${open}><skipped message="${detail}"/></testcase>`;
  if (result.status === 'fail') {
    return `${open}><failure type="${escapeXml(result.outcome)}" message="${detail}"/></testcase>`;
  }
  if (result.status === 'warn') return `${open}><system-out>${detail}</system-out></testcase>`;
  return `${open}/>`;
}

/** Characters that XML 1.0 forbids even when escaped: https://www.w3.org/TR/xml/#charsets */
const NOT_XML = /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu;

function escapeXml(text: string): string {
  const escaped = text
    .replace(NOT_XML, '')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&apos;')
    .replaceAll('\n', '&#10;')
    .replaceAll('\r', '&#13;');
  return escapeXmlCommands(escaped);
}
