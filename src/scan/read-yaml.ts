/** Converts the YAML documents of the first wave to JSON, on a worker that can be killed. */
import type { AnswerObservation, HttpData } from '../model/observation.ts';
import type { OpenApiAnswer } from '../model/observations.ts';
import { isYamlPath } from '../parse/text/document-limits.ts';
import { runOnWorker, type ScanWork, type WorkModule } from './origin-work.ts';

const YAML_MODULE: WorkModule<typeof import('../parse/openapi/yaml.ts')> = new URL(
  '../parse/openapi/yaml.ts',
  import.meta.url,
);
const YAML_TOO_SLOW = { fault: 'slower to read than a scan allows', isOverLimit: true };

/** Adds the JSON of YAML documents. Reading YAML has a budget of its own, so that the checks keep theirs. */
export async function readYaml(
  alternates: readonly OpenApiAnswer[],
  { pool, signal, deadline }: ScanWork,
): Promise<readonly OpenApiAnswer[]> {
  if (!alternates.some(isYamlDocument)) return alternates;
  const work = { pool, account: pool.openScan(), signal, deadline };
  return Promise.all(
    alternates.map(async (alternate) => {
      if (!isYamlDocument(alternate)) return alternate;
      const { body } = alternate.answer.data;
      const result = await runOnWorker(work, 'origin', YAML_MODULE, 'convertYaml', body);
      return { ...alternate, yaml: result.ok ? result.output : YAML_TOO_SLOW };
    }),
  );
}

function isYamlDocument(
  alternate: OpenApiAnswer,
): alternate is OpenApiAnswer & { readonly answer: AnswerObservation<HttpData> } {
  const { path, answer } = alternate;
  return isYamlPath(path) && answer.ok && answer.data.status === 200 && !answer.truncated;
}
