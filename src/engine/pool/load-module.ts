/** Loads the modules that jobs name; the npm package has those of its own in one file (tools/pack). */
export function loadModule(url: string): Promise<Readonly<Record<string, unknown>>> {
  return import(url);
}
