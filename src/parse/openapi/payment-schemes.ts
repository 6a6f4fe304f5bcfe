/** Tells security schemes that carry a payment over x402 from logins. */
import { type JsonObject, type JsonValue, jsonObject, jsonText } from '../json/json.ts';
import type { RefResolver } from '../json/json-pointer.ts';

export type SecurityScheme = {
  readonly name: string;
  readonly type: string;
  readonly scheme: string;
  readonly in: string;
  /** Name of the header, query parameter or cookie of an apiKey scheme. */
  readonly parameter: string;
};

export type PaymentSchemes = {
  /** Names of schemes that declare x402 itself. */
  readonly x402: readonly string[];
  /** Names of apiKey schemes that mean x402: by their name, or by the payment header that they use. */
  readonly apiKeys: readonly string[];
};

const PAYMENT_HEADERS: ReadonlySet<string> = new Set(['payment-signature', 'x-payment']);
const MAX_NAMES = 100;

export function readSecurityScheme(name: string, members: JsonObject): SecurityScheme {
  const readText = (member: string) => jsonText(members[member]) ?? '';
  const [type, scheme] = [readText('type'), readText('scheme')];
  return { name, type, scheme, in: readText('in'), parameter: readText('name') };
}

/** Finds the security schemes of an OpenAPI document that mean payment over x402. */
export function findPaymentSchemes({
  securitySchemes,
}: {
  readonly securitySchemes: readonly SecurityScheme[];
}): PaymentSchemes {
  return {
    x402: securitySchemes.filter(isX402Scheme).map(({ name }) => name),
    apiKeys: securitySchemes.filter(isPaymentApiKey).map(({ name }) => name),
  };
}

function isX402Scheme({ name, type, scheme }: SecurityScheme): boolean {
  if (type === 'http' && scheme.toLowerCase() === 'x402') return true;
  return name.toLowerCase() === 'x402' && type !== 'apiKey' && type !== '';
}

/** Any other key is a login: an account with credits answers 402 too, and no client can pay that. */
function isPaymentApiKey({ name, type, parameter }: SecurityScheme): boolean {
  if (type !== 'apiKey') return false;
  return name.toLowerCase() === 'x402' || PAYMENT_HEADERS.has(parameter.toLowerCase());
}

export type LoginTest = (security: readonly JsonObject[] | null) => boolean;

/** The test returns true if security names schemes, and none of them means payment. */
export function createLoginTest(root: JsonObject, resolveRef: RefResolver): LoginTest {
  const schemes = jsonObject(jsonObject(root['components'])['securitySchemes']);
  const results = new Map<string, boolean>();
  const isLogin = (name: string): boolean => {
    const cached = results.get(name);
    if (cached !== undefined) return cached;
    const declaration: JsonValue | undefined = Object.hasOwn(schemes, name)
      ? resolveRef(schemes[name])
      : undefined;
    const scheme = readSecurityScheme(name, jsonObject(declaration));
    const isPayment =
      /^x402$/i.test(name) || /^x402$/i.test(scheme.scheme) || isPaymentApiKey(scheme);
    results.set(name, !isPayment);
    return !isPayment;
  };
  return (security) => {
    const names = (security ?? []).flatMap((requirement) =>
      Object.keys(requirement).slice(0, MAX_NAMES),
    );
    return names.length > 0 && names.every(isLogin);
  };
}
