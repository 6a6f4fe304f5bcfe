/**
 * Writes values as literals of the patches' languages. Values come from an origin: `patch-values.ts` has
 * cleaned them, and these functions escape everything that could end a literal.
 */

import type { JsonDocument, PatchPart } from './patch.ts';

/** Uses single quotes if no escape is needed. */
export function js(text: string): string {
  return /['\\\n]/.test(text) ? JSON.stringify(text) : `'${text}'`;
}

/** The escapes of JSON mean the same in Python. */
export function python(text: string): string {
  return JSON.stringify(text);
}

/** The escapes of JSON mean the same in Go. */
export function go(text: string): string {
  return JSON.stringify(text);
}

/** `indent` is put before all lines but the first. */
export function json(document: JsonDocument, indent = ''): string {
  return JSON.stringify(document, null, 2).replaceAll('\n', `\n${indent}`);
}

/** `json` with Python's True and False. */
export function pythonJson(document: JsonDocument, indent = ''): string {
  return json(document, indent).replace(
    /("(?:[^"\\]|\\.)*")|\b(?:true|false)\b/g,
    (word, text: string | undefined) => text ?? (word === 'true' ? 'True' : 'False'),
  );
}

/** A text of several lines in backticks. */
export function jsTemplate(text: string): string {
  return `\`${text.replace(/[`\\]|\$(?=\{)/g, '\\$&')}\``;
}

/** A text of several lines in triple quotes. */
export function pythonText(text: string): string {
  return `"""${text.replace(/["\\]/g, '\\$&')}"""`;
}

/** A text of several lines in backticks, in which Go knows no escapes. */
export function goText(text: string): string {
  return `\`${text.replaceAll('`', '` + "`" + `')}\``;
}

/** Matches imports at the start of a line only; a value of an origin is never there. */
const JS_IMPORT = /^(?:import .*|\} )from '((?:@[\w-]+\/)?[\w-]+)(?:\/[\w/-]+)?';$/gm;
const PYTHON_IMPORT = /^from ([\w.]+) import /gm;
const GO_MODULE = /^(?:import |\t(?:\w+ )?)"(github\.com\/[\w-]+\/[\w-]+(?:\/go\/v2)?)/gm;
const EXTRAS: Readonly<Record<string, string>> = {
  'x402.http.middleware.fastapi': 'fastapi',
  'x402.http.middleware.flask': 'flask',
  'x402.mechanisms.evm.exact': 'evm',
  'x402.mechanisms.svm.exact': 'svm',
  'x402.extensions.bazaar': 'extensions',
};
const PACKAGES: Readonly<Record<string, string>> = {
  fastapi: 'fastapi',
  'fastapi.responses': 'fastapi',
  flask: 'flask',
  eth_utils: 'eth-utils',
};

/** A comment with the command that installs what the code imports; null if it imports nothing. */
export function installLine({ language, code }: PatchPart): string | null {
  if (language === 'ts') {
    // Older versions read ":city" in a route as text, so they would guard nothing.
    const names = captures(code, JS_IMPORT).map((name) => `${name}@latest`);
    return names.length === 0 ? null : `// npm install ${names.join(' ')}`;
  }
  if (language === 'python') {
    const names = captures(code, PYTHON_IMPORT);
    const extras = names.flatMap((name) => EXTRAS[name] ?? []);
    const others = [...new Set(names.flatMap((name) => PACKAGES[name] ?? []))];
    const x402 = extras.length === 0 ? [] : [`x402[${extras.join(',')}]`];
    // The extra of the middleware installs the framework too.
    const all = x402.length > 0 ? x402 : others;
    return all.length === 0 ? null : `# pip install ${all.map((name) => `"${name}"`).join(' ')}`;
  }
  if (language !== 'go') return null;
  const modules = captures(code, GO_MODULE);
  return modules.length === 0 ? null : `// go get ${modules.join(' ')}`;
}

function captures(code: string, pattern: RegExp): readonly string[] {
  return [...new Set([...code.matchAll(pattern)].map(([, name]) => name ?? ''))];
}
