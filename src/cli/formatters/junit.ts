import { escapeXmlCommands } from './escapes.ts';
import type { Findings, PrintedFinding } from './findings.ts';

export function formatJunit({
  title,
  target,
  timestamp,
  junitProperties,
  items,
}: Findings): string {
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
