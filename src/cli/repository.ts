/** Paths as the readers of pipelines match them: relative to the root of the repository, with forward slashes. */
import { realpathSync } from 'node:fs';
import path from 'node:path';

export type Repository = {
  /** The shortest path from the root: "docs/openapi.json". Null for a file outside the root. */
  readonly toPath: (file: string) => string | null;
  /** The file that defines the running pipeline; null if there is none, or if it belongs to another repository. */
  readonly pipelineFile: string | null;
};

/** Findings about no file point here if no pipeline runs. Code scanning accepts only files of the repository. */
export const README_FILE = 'README.md';

/** Variables of GitHub and GitLab that hold the root of the checkout. */
const ROOT_VARIABLES = ['GITHUB_WORKSPACE', 'CI_PROJECT_DIR'];

export function readRepository(
  env: Readonly<Record<string, string | undefined>> = process.env,
  workingFolder: string = process.cwd(),
): Repository {
  // A container may get the variables of a machine whose folders it does not have.
  const named = ROOT_VARIABLES.map((name) => toRealPath(env[name] ?? '')).find(
    (root) => root !== null,
  );
  const root = named ?? toRealPath(workingFolder) ?? workingFolder;
  const toPath = (file: string) => {
    const absolute = path.resolve(workingFolder, file);
    const realFolder = toRealPath(path.dirname(absolute)) ?? path.dirname(absolute);
    return toPathInside(root, path.join(realFolder, path.basename(absolute)));
  };
  return { toPath, pipelineFile: findPipelineFile(env, root) };
}

function toRealPath(folder: string): string | null {
  if (folder === '') return null;
  try {
    return realpathSync(folder);
  } catch {
    return null;
  }
}

function toPathInside(root: string, file: string): string | null {
  const relative = path.relative(root, file);
  const steps = relative.split(path.sep);
  return relative === '' || steps[0] === '..' || path.isAbsolute(relative) ? null : steps.join('/');
}

function findPipelineFile(env: Readonly<Record<string, string | undefined>>, root: string) {
  const { GITHUB_WORKFLOW_REF, GITHUB_REPOSITORY, CI_CONFIG_PATH } = env;
  const [, repository, workflow] = /^([^/]+\/[^/]+)\/(.+?)@/.exec(GITHUB_WORKFLOW_REF ?? '') ?? [];
  const isOwn = GITHUB_REPOSITORY === undefined || GITHUB_REPOSITORY === repository;
  // GitLab's setting may be an address, or "file@group/project" for a file of another project.
  const config = /:\/\/|@/.test(CI_CONFIG_PATH ?? '') ? undefined : CI_CONFIG_PATH;
  const file = (isOwn ? workflow : undefined) || config;
  return file ? toPathInside(root, path.resolve(root, file)) : null;
}
