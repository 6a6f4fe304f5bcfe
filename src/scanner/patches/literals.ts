/**
 * Writes values as literals of the languages of patches. Values come from an origin, so `patch-values.ts` cleans
 * them, and these functions escape everything that could end a literal.
 */

import type { JsonDocument, PatchPart } from './patch.ts';

/** A string literal, in single quotes if no escape is needed. */
export function toJsString(text: string): string {
  return /['\\\n]/.test(text) ? JSON.stringify(text) : `'${text}'`;
}

/** A string literal of Python and Go, in which the escapes of JSON mean the same. */
export function toDoubleQuoted(text: string): string {
  return JSON.stringify(text);
}

/** `indent` goes before all lines except the first. */
export function toJsonLiteral(document: JsonDocument, indent = ''): string {
  return joinSingleMembers(JSON.stringify(document, null, 2)).replaceAll('\n', `\n${indent}`);
}

/** A bracket at the end of a line, one short member, and its closing bracket at the start of the next line. */
const SINGLE_MEMBER = /([{[])\n +(\S[^\n]{0,70})\n *([}\]])/g;

function joinSingleMembers(json: string): string {
  const joined = json.replace(SINGLE_MEMBER, (_, open: string, member: string, close: string) =>
    open === '{' ? `{ ${member} }` : `[${member}${close}`,
  );
  return joined === json ? json : joinSingleMembers(joined);
}

/** A dict literal, with Python's True and False. */
export function toPythonLiteral(document: JsonDocument, indent = ''): string {
  return toJsonLiteral(document, indent).replace(
    /("(?:[^"\\]|\\.)*")|\b(?:true|false)\b/g,
    (word, text: string | undefined) => text ?? (word === 'true' ? 'True' : 'False'),
  );
}

/** A text of several lines in backticks. */
export function toJsTemplate(text: string): string {
  return `\`${text.replace(/[`\\]|\$(?=\{)/g, '\\$&')}\``;
}

/** Returns "AGENT_CARD" for "agentCard". */
export function toConstantName(name: string): string {
  return name.replace(/[A-Z]/g, '_$&').toUpperCase();
}

/** A text of several lines in triple quotes. */
export function toPythonText(text: string): string {
  return `"""${text.replace(/["\\]/g, '\\$&')}"""`;
}

/** A text of several lines in backticks, in which Go knows no escapes. */
export function toGoText(text: string): string {
  return `\`${text.replaceAll('`', '` + "`" + `')}\``;
}

/** Matches imports only at the start of a line, where no value of an origin can be. */
const JS_IMPORT = /^(?:import .*|\} )from '((?:@[\w-]+\/)?[\w-]+)(?:\/[\w/-]+)?';$/gm;
const PYTHON_IMPORT = /^from ([\w.]+) import /gm;
const GO_MODULE = /^(?:import |\t(?:\w+ )?)"(github\.com\/[\w-]+\/[\w-]+(?:\/go\/v2)?)/gm;
/** Extra of the package x402 ("x402[evm]"), by the module that needs the extra. */
const X402_EXTRAS: Readonly<Record<string, string>> = {
  'x402.http.middleware.fastapi': 'fastapi',
  'x402.http.middleware.flask': 'flask',
  'x402.mechanisms.evm.exact': 'evm',
  'x402.mechanisms.svm.exact': 'svm',
  'x402.extensions.bazaar': 'extensions',
};
/** Name of the package, by the name of a module in it. */
const PYTHON_PACKAGES: Readonly<Record<string, string>> = {
  fastapi: 'fastapi',
  'fastapi.responses': 'fastapi',
  flask: 'flask',
  eth_utils: 'eth-utils',
};

/** A comment with the command that installs the imported packages; null if the code imports none. */
export function toInstallComment({ file, code }: PatchPart): string | null {
  if (file.endsWith('.ts')) {
    // Older versions of the middlewares read ":city" in a route as plain text, so they would not guard the route.
    const names = listCaptures(code, JS_IMPORT).map((name) => `${name}@latest`);
    return names.length === 0 ? null : `// npm install ${names.join(' ')}`;
  }
  if (file.endsWith('.py')) {
    const names = listCaptures(code, PYTHON_IMPORT);
    const extras = names.flatMap((name) => X402_EXTRAS[name] ?? []);
    const otherPackages = new Set(names.flatMap((name) => PYTHON_PACKAGES[name] ?? []));
    // The extras of x402 install these packages too.
    const packages = extras.length > 0 ? [`x402[${extras.join(',')}]`] : [...otherPackages];
    return packages.length === 0
      ? null
      : `# pip install ${packages.map((name) => `"${name}"`).join(' ')}`;
  }
  if (!file.endsWith('.go')) return null;
  const modules = listCaptures(code, GO_MODULE);
  return modules.length === 0 ? null : `// go get ${modules.join(' ')}`;
}

function listCaptures(code: string, pattern: RegExp): readonly string[] {
  return [...new Set([...code.matchAll(pattern)].map(([, name]) => name ?? ''))];
}
