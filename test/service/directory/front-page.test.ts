/** The front page shows the latest origins, but at most three hosts of one registrable domain. */
import { expect, test } from 'vitest';
import { readFrontPage } from '../../../src/service/directory/project.ts';
import { startApp } from '../../fixtures/service/start-app.ts';

test('the front page shows three hosts of one registrable domain; searches and the API show all hosts', async () => {
  await using service = await startApp();
  await service.publish('early.example.org');
  for (let n = 0; n < 60; n += 1) {
    service.advance(1_000);
    await service.publish(`s${n}.flood.example.com`);
  }
  // github.io is a public suffix, so each customer has a registrable domain.
  await service.publish('a.github.io');
  await service.publish('b.github.io');

  const { count, records } = await readFrontPage(service.store.directory);
  expect(count).toBe(63);
  expect(records.map(({ host }) => host).sort()).toEqual([
    'a.github.io',
    'b.github.io',
    'early.example.org',
    's57.flood.example.com',
    's58.flood.example.com',
    's59.flood.example.com',
  ]);
  const page = (await service.get('/')).body;
  expect(page).toContain('early.example.org');
  expect(page).not.toContain('s56.flood.example.com');

  // A search shows all hosts, and so does the API.
  expect((await service.get('/directory?q=s56.flood')).body).toContain('s56.flood.example.com');
  expect((await service.get('/v1/featured')).json().count).toBe(63);
});

test('the front page shows the newest 10 of 55 origins, and counts all of them', async () => {
  await using service = await startApp();
  for (let n = 0; n < 55; n += 1) await service.publish(`www.shop${n}.com`);
  const { count, records } = await readFrontPage(service.store.directory);
  expect(count).toBe(55);
  expect(records).toHaveLength(10);
});
