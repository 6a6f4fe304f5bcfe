import { escapeXmlCommands } from './workflow-commands.ts';

export type JunitCase = {
  readonly name: string;
  readonly className: string;
  /** A warning passes and is printed in `system-out`. */
  readonly status: 'pass' | 'warn' | 'fail' | 'skipped';
  /** Type of the failure. */
  readonly type: string;
  readonly text: string;
};

export type JunitSuite = {
  readonly title: string;
  readonly name: string;
  /** ISO 8601. */
  readonly timestamp?: string;
  readonly properties: readonly (readonly [name: string, value: string])[];
  readonly cases: readonly JunitCase[];
};

export function writeJunit({ title, name, timestamp, properties, cases }: JunitSuite): string {
  const count = (status: JunitCase['status']) =>
    cases.filter((one) => one.status === status).length;
  const counts = `tests="${cases.length}" failures="${count('fail')}" skipped="${count('skipped')}"`;
  const time = timestamp === undefined ? '' : ` timestamp="${timestamp}"`;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="${escapeXml(title)}" ${counts}>`,
    `  <testsuite name="${escapeXml(name)}"${time} ${counts}>`,
    '    <properties>',
    ...properties.map(
      ([key, value]) => `      <property name="${escapeXml(key)}" value="${escapeXml(value)}"/>`,
    ),
    '    </properties>',
    ...cases.map(writeCase),
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n');
}

function writeCase({ name, className, status, type, text }: JunitCase): string {
  const open = `    <testcase name="${escapeXml(name)}" classname="${escapeXml(className)}"`;
  const detail = escapeXml(text);
  switch (status) {
    case 'skipped':
      return `${open}><skipped message="${detail}"/></testcase>`;
    case 'fail':
      return `${open}><failure type="${escapeXml(type)}" message="${detail}"/></testcase>`;
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
