/**
 * Rows of the schemes that no installed client pays. They hold the rules that the specification calls MUST. A row with
 * `judgedBy: 'named'` has no rules.
 */
import type { Namespace } from './namespaces.ts';
import {
  atBlob,
  atCommit,
  type ExtraMember,
  type SchemeRow,
  type Specification,
} from './scheme-row.ts';

const TOKEN_PROGRAMS = [
  'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA',
  'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb',
];
const FEE_PAYER: ExtraMember = { name: 'feePayer', form: 'non-zero-address' };
const CARDANO = atBlob('exact', 'cardano', '77ca60e9976be4744c72ed34c6e75527a38745cd');

export const OTHER_SCHEMES: readonly SchemeRow[] = [
  toExactRow('stellar', atBlob('exact', 'stellar', '87a6980b8f924fb7bc7b7658dd211c9cce1b5ae2'), {
    judgedBy: 'tests',
    requires: [{ name: 'areFeesSponsored', form: 'true' }],
  }),
  toExactRow('algorand', atBlob('exact', 'algo', '5551cf14d9d1045e84b0eac4a5ecdd0ed630a8e5'), {
    judgedBy: 'tests',
  }),
  toExactRow('aptos', atBlob('exact', 'aptos', '2062062629d8f59b5209b34679842693baf77baf'), {
    requires: [{ name: 'feePayer', form: 'address', isOptional: true }],
  }),
  toExactRow('tvm', atBlob('exact', 'ton', '73b8a5e2f96839aa2e2121b220821edec14418a8')),
  toExactRow('xrpl', atCommit('exact', 'xrpl', '459da6c9314e072c286ee2064c0eff0820daeee6'), {
    requires: [
      { name: 'areFeesSponsored', form: 'false' },
      { name: 'issuer', form: 'address', unlessAsset: 'XRP' },
      ...allowMethods('sequence', 'ticketSequence'),
    ],
  }),
  toExactRow('hedera', atBlob('exact', 'hedera', '05da42aa5ad5af72988c045200c230c5891b2292'), {
    requires: [
      { ...FEE_PAYER, onlyBy: 'cryptoTransfer' },
      ...allowMethods('cryptoTransfer', 'transferExecutor'),
    ],
    methods: ['cryptoTransfer', 'transferExecutor'],
  }),
  toExactRow('near', atBlob('exact', 'near', 'df9106d5725bfbf16477545053f69b03d8728047')),
  toExactRow('keeta', atBlob('exact', 'keeta', 'ff7eaaa2868c174c71e01fc2f35e73818da048aa')),
  toExactRow('ccd', atBlob('exact', 'concordium', 'b7e81c3609137e1f0c641f3a478cef93b928600a'), {
    requires: [FEE_PAYER],
  }),
  toExactRow('lnbtc', atCommit('exact', 'lnbtc', '0039c0169dc5f76ec1690ab488cfac7fa68c9d99'), {
    requires: [
      { name: 'paymentFlow', form: 'text' },
      { name: 'invoice', form: 'text' },
      { name: 'requestHash', form: { hexDigits: 64 } },
      { name: 'requestBindingProfile', form: { oneOf: ['http:1', 'mcp:1'] } },
      { name: 'requestBindingParams', form: 'object' },
      ...allowMethods('bolt11'),
    ],
    flows: ['upfront'],
  }),
  {
    scheme: 'batch-settlement',
    namespace: 'solana',
    judgedBy: 'passive',
    requires: [
      FEE_PAYER,
      { name: 'tokenProgram', form: { oneOf: TOKEN_PROGRAMS } },
      { name: 'withdrawDelay', form: { least: 900, most: 2_592_000, coversTimeout: true } },
      { name: 'receiverAuthorizer', form: 'non-zero-address', isOptional: true },
      { name: 'memo', form: 'memo', isOptional: true },
    ],
    flows: ['authorization'],
    amount: 'ceiling',
    client: null,
    specification: atCommit('batch-settlement', 'svm', '0ce3e9c08d0c25462fc214fb7471f5472e59ce5a'),
  },
  toNamedRow('cardano', CARDANO),
  toNamedRow('cip34', CARDANO),
  toNamedRow('casper', atBlob('exact', 'casper', '486e55b589c01ed7ea3297a2d29611b0683e1be0')),
  toNamedRow('starknet', atCommit('exact', 'starknet', '0d74e0e96ea01fea6a657a821c871d6a03aa9ec1')),
  toNamedRow('canton', atBlob('exact', 'canton', 'aec69171a4467778c8bf2173b7376efaa2500470')),
  toNamedRow('sui', atBlob('exact', 'sui', '2adba09e1123561ab60398179d21b82b7b1b96c1')),
  toNamedRow('bip122', null, { draft: 'a draft that was never merged; lnbtc took its place' }),
  toNamedRow(
    'cloudflare',
    atBlob('batch-settlement', 'cloudflare', '0ed7629b535e1cd2925ca016ef76bdcf905f2a1d'),
    { scheme: 'batch-settlement', amount: 'ceiling' },
  ),
];

function toExactRow(
  namespace: Namespace,
  specification: Specification | null,
  overrides: Partial<SchemeRow> = {},
): SchemeRow {
  return {
    scheme: 'exact',
    namespace,
    judgedBy: 'passive',
    requires: [],
    flows: ['authorization', 'upfront'],
    amount: 'price',
    client: null,
    specification,
    ...overrides,
  };
}

function toNamedRow(
  namespace: Namespace,
  specification: Specification | null,
  overrides: Partial<SchemeRow> = {},
): SchemeRow {
  return toExactRow(namespace, specification, { judgedBy: 'named', flows: null, ...overrides });
}

/** Facilitators must refuse transfer methods that are not in the specification. */
function allowMethods(...oneOf: readonly string[]): readonly ExtraMember[] {
  return [{ name: 'assetTransferMethod', form: { oneOf }, isOptional: true }];
}
