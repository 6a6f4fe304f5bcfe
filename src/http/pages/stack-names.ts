import type { Stack } from '../../patches/patch.ts';

export const STACK_NAMES: Readonly<Record<Stack, string>> = {
  express: 'Express',
  hono: 'Hono',
  next: 'Next.js',
  fastapi: 'FastAPI',
  flask: 'Flask',
  go: 'Go',
  nginx: 'nginx',
};
