/** Loads a module of a check, here or on a worker, and tells what it says of itself as plain data. */

/** `facts`: the default export as JSON says it, without its functions; null where there is none. */
export type LoadedModule =
  | { readonly ok: true; readonly facts: unknown; readonly isEvaluable: boolean }
  | { readonly ok: false; readonly detail: string };

/** `url`: a file URL. Never rejects. */
export async function loadModule(url: string): Promise<LoadedModule> {
  try {
    const { default: said }: Record<string, unknown> = await import(/* @vite-ignore */ url);
    const facts: unknown = JSON.parse(JSON.stringify(said) ?? 'null');
    return { ok: true, facts, isEvaluable: isEvaluable(said) };
  } catch (error) {
    return { ok: false, detail: error instanceof Error ? error.message : String(error) };
  }
}

function isEvaluable(value: unknown): boolean {
  return (
    typeof value === 'object' &&
    value !== null &&
    'evaluate' in value &&
    typeof value.evaluate === 'function'
  );
}
