/** A real browser for the public site: Debian's chromium, driven by playwright-core. */
import { type Browser, chromium } from 'playwright-core';
import { findExecutable } from '../find-executable.ts';

const EXECUTABLE = findExecutable('chromium') ?? findExecutable('google-chrome');

/** What this machine lacks to run one, or null. */
export function browserUnavailable(): string | null {
  return EXECUTABLE === null ? 'chromium on the PATH (apt-get install chromium)' : null;
}

export function startBrowser(): Promise<Browser> {
  if (EXECUTABLE === null) throw new Error(browserUnavailable() ?? '');
  return chromium.launch({
    executablePath: EXECUTABLE,
    // As root there is no sandbox; and the browser's own calls home have nowhere to go.
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      '--no-first-run',
    ],
  });
}
