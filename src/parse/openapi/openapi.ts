import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  jsonList,
  jsonObject,
  jsonText,
} from '../json/json.ts';
import { createRefResolver } from '../json/json-pointer.ts';
import { type Operation, readOperations } from './openapi-operations.ts';
import { readSecurityScheme, type SecurityScheme } from './payment-schemes.ts';

export type { Operation } from './openapi-operations.ts';
export type { PriceDeclaration } from './openapi-price.ts';
export type { SecurityScheme } from './payment-schemes.ts';

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
  /** Number of paths. */
  readonly paths: number;
  readonly operations: readonly Operation[];
  readonly securitySchemes: readonly SecurityScheme[];
  readonly servers: readonly DeclaredUrl[];
  readonly externalDocs: readonly DeclaredUrl[];
  readonly document: JsonValue;
};

/** A URL as the document has it, and the JSON pointer of the object that holds it. */
type DeclaredUrl = { readonly url: string; readonly pointer: string };

/** Reads OpenAPI 3.x. From another document, it reads the members that have the same form. */
export function parseOpenApi(document: JsonValue, documentUrl: string): OpenApiFacts {
  const root = jsonObject(document);
  const info = jsonObject(root['info']);
  const operations = readOperations(root, documentUrl);
  return {
    version: jsonText(root['openapi']),
    swagger: root['swagger'] !== undefined,
    title: jsonText(info['title']),
    infoVersion: jsonText(info['version']),
    hasContact: hasContact(info['contact']),
    hasGuidance: jsonText(info['x-guidance']) !== null,
    description: jsonText(info['description']),
    paths: Object.keys(jsonObject(root['paths'])).filter((path) => path.startsWith('/')).length,
    operations: operations.map(({ operation }) => operation),
    securitySchemes: readSecuritySchemes(root),
    servers: readServers(root['servers']),
    externalDocs: [
      ...readExternalDocs(root, ''),
      ...jsonList(root['tags']).flatMap((tag, index) => readExternalDocs(tag, `/tags/${index}`)),
      ...operations.flatMap(({ operation, source }) => readExternalDocs(source, operation.pointer)),
    ],
    document,
  };
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
    return [readSecurityScheme(name, members)];
  });
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
