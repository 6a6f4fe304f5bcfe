import { escapeXmlCommands } from './escapes.ts';
import type { Findings, PrintedFinding } from './findings.ts';

export function formatJunit({ title, target, timestamp, lines, items }: Findings): string {
  const count = (status: PrintedFinding['status']) =>
    items.filter((one) => one.status === status).length;
  const counts = `tests="${items.length}" failures="${count('fail')}" skipped="${count('skipped')}"`;
  const time = timestamp === undefined ? '' : ` timestamp="${timestamp}"`;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="${escapeXml(title)}" ${counts}>`,
    `  <testsuite name="${escapeXml(target)}"${time} ${counts}>`,
    '    <properties>',
    ...lines.map(
      ([key, value]) => `      <property name="${escapeXml(key)}" value="${escapeXml(value)}"/>`,
    ),
    '    </properties>',
    ...items.map(writeCase),
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n');
}

function writeCase({ name, group, status, kind, text }: PrintedFinding): string {
  const open = `    <testcase name="${escapeXml(name)}" classname="${escapeXml(group)}"`;
  const detail = escapeXml(text);
  switch (status) {
    case 'skipped':
      return `${open}><skipped message="${detail}"/></testcase>`;
    case 'fail':
      return `${open}><failure type="${escapeXml(kind)}" message="${detail}"/></testcase>`;
    case 'warn':
      return `${open}><system-out>${detail}</system-out></testcase>`;
    case 'pass':
      return `${open}/>`;
  }
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
