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

export type { Operation } from './openapi-operations.ts';
export type { PriceDeclaration } from './openapi-price.ts';

export type SecurityScheme = {
  readonly name: string;
  readonly type: string;
  readonly scheme: string;
  readonly in: string;
  readonly parameter: string;
};

export type OpenApiFacts = {
  /** The `openapi` member ("3.1.0"); null when missing (Swagger 2 has `swagger`). */
  readonly version: string | null;
  readonly swagger: boolean;
  readonly title: string | null;
  readonly infoVersion: string | null;
  readonly hasContact: boolean;
  readonly hasGuidance: boolean;
  readonly description: string | null;
  readonly paths: number;
  readonly operations: readonly Operation[];
  readonly securitySchemes: readonly SecurityScheme[];
  /** Server URLs as written, with their pointers. */
  readonly servers: readonly { readonly url: string; readonly pointer: string }[];
  /** externalDocs URLs as written, with their pointers. */
  readonly externalDocs: readonly { readonly url: string; readonly pointer: string }[];
  readonly document: JsonValue;
};

type Address = { readonly url: string; readonly pointer: string };

/** Reads OpenAPI 3.x; of other documents it returns the members that have the same form. */
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
    securitySchemes: securitySchemes(root),
    servers: servers(root['servers']),
    externalDocs: [
      ...externalDocs(root, ''),
      ...jsonList(root['tags']).flatMap((tag, index) => externalDocs(tag, `/tags/${index}`)),
      ...operations.flatMap(({ operation, source }) => externalDocs(source, operation.pointer)),
    ],
    document,
  };
}

/** A contact without any content counts as missing. */
function hasContact(contact: JsonValue | undefined): boolean {
  const { name, url, email } = jsonObject(contact);
  return [name, url, email].some((way) => jsonText(way)?.trim());
}

function securitySchemes(root: JsonObject): readonly SecurityScheme[] {
  const declared = jsonObject(jsonObject(root['components'])['securitySchemes']);
  const follow = createRefResolver(root);
  return Object.entries(declared).flatMap(([name, value]) => {
    const scheme = follow(value);
    if (!isJsonObject(scheme)) return [];
    return [
      {
        name,
        type: jsonText(scheme['type']) ?? '',
        scheme: jsonText(scheme['scheme']) ?? '',
        in: jsonText(scheme['in']) ?? '',
        parameter: jsonText(scheme['name']) ?? '',
      },
    ];
  });
}

function servers(list: JsonValue | undefined): readonly Address[] {
  return jsonList(list).flatMap((server, index) => {
    const url = jsonText(jsonObject(server)['url']);
    return url === null ? [] : [{ url, pointer: `/servers/${index}` }];
  });
}

function externalDocs(owner: JsonValue | undefined, pointer: string): readonly Address[] {
  const url = jsonText(jsonObject(jsonObject(owner)['externalDocs'])['url']);
  return url === null ? [] : [{ url, pointer: `${pointer}/externalDocs` }];
}
