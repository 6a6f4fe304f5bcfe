import type { CheckResult } from '../../model/report.ts';
import { answerLine } from '../../payable/answer-line.ts';
import { findingText } from './findings.ts';
import { type JunitCase, writeJunit } from './junit-xml.ts';
import type { Printable } from './printable.ts';

export function formatJunit({ report, printed }: Printable): string {
  return writeJunit({
    title: 'x402 conformance',
    name: report.origin,
    timestamp: report.scannedAt,
    properties: [
      ['grade', report.grade],
      ['score', String(report.score)],
      ['payableBy', report.payableBy ?? 'unknown'],
      ['answer', answerLine(report)],
      ...report.advice.map((advice) => [`advice/${advice.id}`, findingText(advice)] as const),
      ['checksVersion', report.checksVersion],
    ],
    cases: printed.map(toCase),
  });
}

function toCase(result: CheckResult): JunitCase {
  return {
    name: `${result.id} ${result.title}`,
    className: result.category,
    status: result.basis === 'not_determined' ? 'skipped' : result.status,
    type: result.outcome,
    text: findingText(result),
  };
}
