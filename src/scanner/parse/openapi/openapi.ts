import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  jsonList,
  jsonObject,
  jsonText,
} from '../json/json.ts';
import { createRefResolver, escapePointerStep } from '../json/json-pointer.ts';
import { type LoginTest, type Operation, readOperations } from './openapi-operations.ts';

export type { Operation } from './openapi-operations.ts';
export type { PriceDeclaration } from './openapi-price.ts';

type SecurityScheme = {
  readonly name: string;
  readonly type: string;
  readonly scheme: string;
  readonly in: string;
  /** Name of the header, query parameter or cookie of an apiKey scheme. */
  readonly parameter: string;
};

type PaymentSchemes = {
  /** Names of schemes that declare x402 itself. */
  readonly x402: readonly string[];
  /** Names of apiKey schemes that mean x402: by their name, or by the payment header that they use. */
  readonly apiKeys: readonly string[];
};

export type OpenApiFacts = {
  /** The member `openapi` ("3.1.0"); null if it is missing. */
  readonly version: string | null;
  /** True if the document has the member `swagger` of version 2. */
  readonly swagger: boolean;
  readonly title: string | null;
  readonly infoVersion: string | null;
  readonly hasContact: boolean;
  readonly hasGuidance: boolean;
  readonly description: string | null;
  readonly pathCount: number;
  readonly operations: readonly Operation[];
  /** JSON pointer of the first path whose `$ref` names another document, which nobody resolves; null without one. */
  readonly externalPath: string | null;
  readonly securitySchemes: readonly SecurityScheme[];
  readonly servers: readonly DeclaredUrl[];
  readonly externalDocs: readonly DeclaredUrl[];
  readonly document: JsonValue;
};

/** A URL as the document has it, and the JSON pointer of the object that holds it. */
type DeclaredUrl = { readonly url: string; readonly pointer: string };

const PAYMENT_HEADERS: ReadonlySet<string> = new Set(['payment-signature', 'x-payment']);
const X402 = /^x402$/i;
const MAX_NAMES = 100;

/** Reads OpenAPI 3.x. From another document, it reads the members that have the same form. */
export function parseOpenApi(document: JsonValue, documentUrl: string): OpenApiFacts {
  const root = jsonObject(document);
  const info = jsonObject(root['info']);
  const securitySchemes = readSecuritySchemes(root);
  const operations = readOperations(root, documentUrl, createLoginTest(securitySchemes));
  return {
    version: jsonText(root['openapi']),
    swagger: root['swagger'] !== undefined,
    title: jsonText(info['title']),
    infoVersion: jsonText(info['version']),
    hasContact: hasContact(info['contact']),
    hasGuidance: jsonText(info['x-guidance']) !== null,
    description: jsonText(info['description']),
    pathCount: Object.keys(jsonObject(root['paths'])).filter((path) => path.startsWith('/')).length,
    operations: operations.map(({ operation }) => operation),
    externalPath: findExternalPath(jsonObject(root['paths'])),
    securitySchemes,
    servers: readServers(root['servers']),
    externalDocs: [
      ...readExternalDocs(root, ''),
      ...jsonList(root['tags']).flatMap((tag, index) => readExternalDocs(tag, `/tags/${index}`)),
      ...operations.flatMap(({ operation, source }) => readExternalDocs(source, operation.pointer)),
    ],
    document,
  };
}

function findExternalPath(paths: JsonObject): string | null {
  const external = Object.keys(paths).find((path) => {
    const ref = jsonText(jsonObject(paths[path])['$ref']);
    return path.startsWith('/') && ref !== null && !ref.startsWith('#');
  });
  return external === undefined ? null : `/paths/${escapePointerStep(external)}`;
}

/** A contact with only empty members counts as missing. */
function hasContact(contact: JsonValue | undefined): boolean {
  const { name, url, email } = jsonObject(contact);
  return [name, url, email].some((value) => jsonText(value)?.trim());
}

function readSecuritySchemes(root: JsonObject): readonly SecurityScheme[] {
  const schemes = jsonObject(jsonObject(root['components'])['securitySchemes']);
  const resolveRef = createRefResolver(root);
  return Object.entries(schemes).flatMap(([name, value]) => {
    const members = resolveRef(value);
    if (!isJsonObject(members)) return [];
    const readText = (member: string) => jsonText(members[member]) ?? '';
    const [type, scheme] = [readText('type'), readText('scheme')];
    return [{ name, type, scheme, in: readText('in'), parameter: readText('name') }];
  });
}

/** Finds the security schemes of an OpenAPI document that mean payment over x402. */
export function findPaymentSchemes(facts: Pick<OpenApiFacts, 'securitySchemes'>): PaymentSchemes {
  return {
    x402: facts.securitySchemes.filter(isX402Scheme).map(({ name }) => name),
    apiKeys: facts.securitySchemes.filter(isPaymentApiKey).map(({ name }) => name),
  };
}

function isX402Scheme({ name, type, scheme }: SecurityScheme): boolean {
  if (type === 'http' && X402.test(scheme)) return true;
  return X402.test(name) && type !== 'apiKey' && type !== '';
}

/** Every other apiKey scheme is a login, such as an account with credits. No x402 client can pay its 402. */
function isPaymentApiKey({ name, type, parameter }: SecurityScheme): boolean {
  if (type !== 'apiKey') return false;
  return X402.test(name) || PAYMENT_HEADERS.has(parameter.toLowerCase());
}

function createLoginTest(schemes: readonly SecurityScheme[]): LoginTest {
  const payments = new Set(
    schemes
      .filter((scheme) => X402.test(scheme.scheme) || isPaymentApiKey(scheme))
      .map(({ name }) => name),
  );
  return (security) => {
    const names = (security ?? []).flatMap((requirement) =>
      Object.keys(requirement).slice(0, MAX_NAMES),
    );
    return names.length > 0 && !names.some((name) => X402.test(name) || payments.has(name));
  };
}

function readServers(list: JsonValue | undefined): readonly DeclaredUrl[] {
  return jsonList(list).flatMap((server, index) => {
    const url = jsonText(jsonObject(server)['url']);
    return url === null ? [] : [{ url, pointer: `/servers/${index}` }];
  });
}

function readExternalDocs(value: JsonValue | undefined, pointer: string): readonly DeclaredUrl[] {
  const url = jsonText(jsonObject(jsonObject(value)['externalDocs'])['url']);
  return url === null ? [] : [{ url, pointer: `${pointer}/externalDocs` }];
}
