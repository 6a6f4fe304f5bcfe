/** `npm run screenshots -- DIR` photographs every page at two widths and in both colour schemes. */
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { startBrowser } from '../../../fixtures/browser.ts';
import { PAGES, startSite } from './site-pages.ts';

const WIDTHS = [390, 1_280] as const;
const SCHEMES = ['light', 'dark'] as const;

const [directory] = process.argv.slice(2);
if (directory === undefined) {
  console.error('npm run screenshots -- DIR [PAGE]: name the directory of the screenshots.');
  process.exit(2);
}
const wantedPage = process.argv[3];
await mkdir(directory, { recursive: true });
await using site = await startSite();
await using browser = await startBrowser();
for (const [name, page] of Object.entries(PAGES)) {
  if (wantedPage !== undefined && name !== wantedPage) continue;
  for (const width of WIDTHS) {
    for (const colorScheme of SCHEMES) {
      const tab = await browser.newPage({ colorScheme, viewport: { width, height: 900 } });
      await tab.goto(site.base + page.path);
      await page.prepare?.(tab);
      const file = path.join(directory, `${name}-${width}-${colorScheme}.png`);
      await tab.screenshot({ path: file, fullPage: true });
      await tab.close();
      console.log(file);
    }
  }
}
