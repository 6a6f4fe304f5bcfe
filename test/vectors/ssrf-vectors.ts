import { readFileSync } from 'node:fs';

type Common = {
  readonly id: string;
  readonly expect: 'allow' | 'reject' | 'unreachable';
  readonly note: string;
};
type Answers = { readonly A?: readonly string[]; readonly AAAA?: readonly string[] };

export type TextVector = Common & {
  readonly kind: 'ip' | 'url' | 'secondary' | 'config';
  readonly input: string;
  readonly reason?: string;
  readonly where?: string;
};
export type DnsVector = Common & {
  readonly kind: 'dns';
  readonly host: string;
  readonly lookups: readonly (Answers & { readonly error?: string })[];
  readonly mustConnectTo?: string;
  readonly maxLookups?: number;
};
export type RedirectVector = Common & {
  readonly kind: 'redirect';
  readonly chain: readonly {
    readonly from: string;
    readonly status: number;
    readonly location?: string;
    readonly header?: Readonly<Record<string, string>>;
    readonly dns?: Answers;
  }[];
};
export type Vector = TextVector | DnsVector | RedirectVector;

/** The verdicts of `ssrf.json`, which states its own format under `meta`. */
export const VECTORS: readonly Vector[] = JSON.parse(
  readFileSync(new URL('ssrf.json', import.meta.url), 'utf8'),
).vectors;

export function textVectors(kind: TextVector['kind']): TextVector[] {
  return VECTORS.filter((vector) => vector.kind === kind) as TextVector[]; // told apart by `kind`
}

/** Short enough for the name of a test. */
export function titleOf({ id, note }: Vector): string {
  return `${id}: ${note}`.slice(0, 100);
}
