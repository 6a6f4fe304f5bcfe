/** Which room may know which. The folder READMEs say the same in words. */
import type { Finding, HouseRule } from './finding.ts';
import { type Import, importsOf } from './imports.ts';

interface Boundary {
  room: string;
  mayNotKnow: readonly string[];
  /** Files where two rooms meet on purpose. */
  except?: readonly string[];
  instead: string;
}

const WEB = ['fastify', '@fastify/', 'plugins/', 'src/http/'];
const BOUNDARIES: readonly Boundary[] = [
  {
    room: 'src/scan/',
    mayNotKnow: [...WEB, 'src/payment/', 'src/store/'],
    except: ['src/scan/scan-host.ts', 'src/scan/finished-scan.ts'],
    instead: 'the pipeline also runs on the command line: take what it needs as an argument',
  },
  {
    room: 'src/engine/',
    mayNotKnow: [...WEB, 'src/payment/', 'src/store/'],
    instead: 'the engine judges observations and nothing else: pass them in',
  },
  {
    room: 'src/probe/',
    mayNotKnow: [...WEB, 'src/payment/', 'src/store/'],
    instead: 'the prober gathers observations and nothing else: return them',
  },
  {
    room: 'src/store/',
    mayNotKnow: [...WEB, 'src/payment/', 'src/scan/', 'src/probe/', 'src/engine/'],
    instead: 'the store keeps facts: put the rule where the fact is made',
  },
  {
    room: 'src/',
    mayNotKnow: ['checks/'],
    instead: 'the catalog names the checks and the engine loads them by name',
  },
  {
    room: 'plugins/',
    mayNotKnow: ['checks/'],
    instead: 'the catalog names the checks and the engine loads them by name',
  },
  {
    room: 'src/',
    mayNotKnow: ['test/', 'tools/', 'demo/'],
    instead: 'what the service needs lives in src/: move it there',
  },
];

/** A check's digest covers its file alone, so nothing else may decide its verdict. */
const CHECK_MAY_RUN = ['src/engine/define-check.ts', 'src/model/verdict.ts'];

export const importBoundaries: HouseRule = (tree) =>
  tree.files
    .filter((file) => file.endsWith('.ts'))
    .flatMap((file) => {
      const boundaries = BOUNDARIES.filter((one) => applies(one, file));
      const isCheck = file.startsWith('checks/') && !file.endsWith('/cases.ts');
      if (boundaries.length === 0 && !isCheck) return [];
      return importsOf(file, tree.read(file)).flatMap((found) => [
        ...boundaries.flatMap((boundary) => crossing(file, found, boundary)),
        ...(isCheck ? checkImport(file, found) : []),
      ]);
    });

function applies({ room, except = [] }: Boundary, file: string): boolean {
  return file.startsWith(room) && !except.includes(file);
}

function crossing(file: string, found: Import, boundary: Boundary): Finding[] {
  const known = boundary.mayNotKnow.find((name) =>
    name.endsWith('/') ? found.target.startsWith(name) : found.target === name,
  );
  if (known === undefined) return [];
  const message = `${boundary.room} may not know ${known} (imports ${found.target}): ${boundary.instead}`;
  return [{ file, line: found.line, message }];
}

function checkImport(file: string, { target, typeOnly, line }: Import): Finding[] {
  if (typeOnly || CHECK_MAY_RUN.includes(target)) return [];
  const message = `a check runs only what define-check.ts, verdict.ts and its kit give, not ${target}: import types with "import type", and take functions from the kit`;
  return [{ file, line, message }];
}
