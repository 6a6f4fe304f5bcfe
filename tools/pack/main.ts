/** npm calls this before and after packing: `main.ts before`, `main.ts after`. */
import { build } from './build.ts';
import { restoreManifest, shipManifest } from './manifest.ts';

const [step] = process.argv.slice(2);
if (step === 'before') {
  await restoreManifest();
  await build();
  await shipManifest();
} else if (step === 'after') {
  await restoreManifest();
} else {
  console.error('usage: node tools/pack/main.ts before|after (npm pack calls both)');
  process.exitCode = 2;
}
