// `node wait-for.mjs URL SECONDS`: waits until the URL answers, with any status. Exit 1 if it does not.
import { get as getHttp } from 'node:http';
import { get as getHttps } from 'node:https';
import { setTimeout as pause } from 'node:timers/promises';

const TRY_TIMEOUT_MS = 5_000;
const PAUSE_MS = 1_000;

const [url = '', seconds = ''] = process.argv.slice(2);
if (!/^https?:\/\/./.test(url) || !URL.canParse(url))
  fail('give a URL such as http://127.0.0.1:3000');
// The shell runs what a text in its arithmetic holds, so the number is read here.
if (!/^[0-9]{1,6}$/.test(seconds)) fail('wait-seconds takes a whole number of seconds, such as 60');
const endMs = performance.now() + Number(seconds) * 1_000;
while (!(await answers())) {
  if (performance.now() >= endMs) fail(`${url} did not answer within ${Number(seconds)} s`);
  await pause(PAUSE_MS);
}

function answers() {
  return new Promise((resolve) => {
    const get = url.startsWith('https:') ? getHttps : getHttp;
    const request = get(url, { agent: false, signal: AbortSignal.timeout(TRY_TIMEOUT_MS) });
    request.once('error', () => resolve(false));
    request.once('response', () => {
      resolve(true);
      request.destroy();
    });
  });
}

function fail(message) {
  const text = message.replaceAll(/[\r\n]+/g, ' ');
  console.log(`::error title=x402 conformance::${text}`);
  process.exit(1);
}
