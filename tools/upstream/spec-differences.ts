/** Compares the rows with the files of specs/ in a checkout of the x402 repository. */
import { hash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SCHEMES } from '../../src/scanner/parse/x402/schemes.ts';
import {
  UNCLEAR_REASONS,
  UNSENT_REASONS,
} from '../../src/service/payment/settle/facilitator-answers.ts';

const OVERVIEW = 'rules of every network, which its rows have';
const DRAFT = 'a draft that was never merged; lnbtc took its place';
/** Documents that deliberately have no row, each with the reason. */
const REASONS_WITHOUT_ROW: Readonly<Record<string, string>> = {
  'specs/schemes/auth-capture/scheme_auth_capture.md': OVERVIEW,
  'specs/schemes/batch-settlement/scheme_batch_settlement.md': OVERVIEW,
  'specs/schemes/exact/scheme_exact.md': OVERVIEW,
  'specs/schemes/upto/scheme_upto.md': OVERVIEW,
  'specs/schemes/exact/scheme_exact_bip122.md': DRAFT,
  'specs/schemes/exact/scheme_exact_lightning.md': DRAFT,
};
const CODES_FILE = 'specs/x402-specification-v2.md';
/** "- **`invalid_network`**: …", or the first cell of a row. */
const ERROR_CODE = /^\s*(?:[-*+]\s+|\|\s*)(?:\*\*)?`([a-z0-9]+(?:_[a-z0-9]+)+)`/gm;
const SHORT_ID_CHARS = 10;

/** Returns one line for each difference between the tables and the documents. */
export async function listSpecDifferences(checkout: string): Promise<readonly string[]> {
  return [...(await listFileDifferences(checkout)), ...(await listCodeDifferences(checkout))];
}

async function listFileDifferences(checkout: string): Promise<readonly string[]> {
  const names = await readdir(join(checkout, 'specs', 'schemes'), { recursive: true });
  const documents = names
    .map((name) => `specs/schemes/${name.replaceAll('\\', '/')}`)
    .filter((file) => file.endsWith('.md'))
    .toSorted();
  const rows = new Map(
    SCHEMES.flatMap(({ specification }) =>
      specification === null ? [] : [[specification.file, specification] as const],
    ),
  );
  const added = documents
    .filter((file) => !rows.has(file) && !Object.hasOwn(REASONS_WITHOUT_ROW, file))
    .map((file) => `${file}: has neither a row nor a reason to have none`);
  const moved = [...rows.values()].map(async ({ file, blob, commit, read }) => {
    if (!documents.includes(file)) return [`${file}: has a row, and is gone`];
    const now = gitBlob(await readFile(join(checkout, file)));
    if (now === blob) return [];
    const was =
      blob === null
        ? `commit ${commit?.slice(0, SHORT_ID_CHARS)}`
        : `blob ${blob.slice(0, SHORT_ID_CHARS)}`;
    const word = blob === null ? 'perhaps changed' : 'changed';
    return [`${file}: ${word}, its row was read on ${read} from ${was}, now it is blob ${now}`];
  });
  return [...added, ...(await Promise.all(moved)).flat()];
}

/** The object id that git gives the content of a file. */
function gitBlob(content: Buffer): string {
  return hash('sha1', Buffer.concat([Buffer.from(`blob ${content.length}\0`), content]));
}

async function listCodeDifferences(checkout: string): Promise<readonly string[]> {
  const text = await readFile(join(checkout, CODES_FILE), 'utf8').catch(() => null);
  if (text === null) return [`${CODES_FILE}: gone, and the list of error codes with it`];
  const codes = new Set([...text.matchAll(ERROR_CODE)].map(([, code = '']) => code));
  const isKnown = (code: string) =>
    Object.hasOwn(UNSENT_REASONS, code) || Object.hasOwn(UNCLEAR_REASONS, code);
  const added = [...codes]
    .filter((code) => !isKnown(code))
    .map((code) => `error code ${code}: in ${CODES_FILE}, and not classified`);
  const removed = Object.entries(UNSENT_REASONS)
    .filter(([code, source]) => source.startsWith(CODES_FILE) && !codes.has(code))
    .map(([code]) => `error code ${code}: classified, and gone from ${CODES_FILE}`);
  return [...added, ...removed];
}
