/** The command line judges by the newest catalog, the service by that of its API revision; users see if they differ. */
import { expect, test } from 'vitest';
import { chooseVersion } from '../../src/cli/engine.ts';
import { formatMarkdown } from '../../src/cli/formatters/markdown.ts';
import { formatText } from '../../src/cli/formatters/text.ts';
import { listCatalogs } from '../../src/scanner/engine/catalog/catalog.ts';
import { SERVICE_CHECKS_VERSION } from '../../src/scanner/model/report.ts';
import { printable } from './printable.ts';

const NEWER = '2099-01-01.1';
const VERSIONS = [...(await listCatalogs()), NEWER];

test.each([
  [null, NEWER],
  ['service', SERVICE_CHECKS_VERSION],
  [NEWER, NEWER],
  ['2026-07-25.1', '2026-07-25.1'],
])('with a newer catalog than that of the service, %s means %s', (wanted, version) => {
  const choice = chooseVersion(VERSIONS, wanted, '--checks-version');
  expect(choice).toEqual({ version, newestVersion: NEWER });
});

test('the catalog of the service is one of the catalogs', async () => {
  expect(await listCatalogs()).toContain(SERVICE_CHECKS_VERSION);
});

test('a catalog that does not exist is refused, and the message names "service" too', () => {
  expect(() => chooseVersion(VERSIONS, '2098-01-01.1', '--checks-version')).toThrow(
    `--checks-version 2098-01-01.1: there are ${VERSIONS.join(', ')}, service`,
  );
});

const catalogs = { newest: NEWER, service: SERVICE_CHECKS_VERSION };
const NOTE = `The newest checks are ${NEWER}; the service judges by ${SERVICE_CHECKS_VERSION} (--checks-version service).`;

test('a report names both catalogs only if they differ', () => {
  expect(formatText(printable({ catalogs }))).toContain(`\n  ${NOTE}\n`);
  expect(formatMarkdown(printable({ catalogs }))).toContain(`\n${NOTE}\n`);
  const same = { newest: NEWER, service: NEWER };
  expect(formatText(printable({ catalogs: same }))).not.toContain('the service judges by');
});
