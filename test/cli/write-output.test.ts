import { execFileSync } from 'node:child_process';
import {
  chmod,
  mkdir,
  readdir,
  readFile,
  readlink,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { writeOutput } from '../../src/cli/io.ts';
import { UsageError } from '../../src/cli/usage.ts';
import { needs } from '../fixtures/needs.ts';
import { folderPerTest } from '../fixtures/temp-folder.ts';

const folder = folderPerTest();

test('writes a new file, and replaces an old one', async () => {
  const file = folder.at('report.json');
  await writeOutput('--output', file, 'one');
  expect(await readFile(file, 'utf8')).toBe('one');
  await writeOutput('--output', file, 'two');
  expect(await readFile(file, 'utf8')).toBe('two');
  expect(await readdir(folder.path)).toEqual(['report.json']);
});

test('replaces the target of a link, not the link', async () => {
  const [file, link] = [folder.at('report.json'), folder.at('latest.json')];
  await writeFile(file, 'one');
  await symlink(file, link);
  await writeOutput('--output', link, 'two');
  expect(await readlink(link)).toBe(file);
  expect(await readFile(file, 'utf8')).toBe('two');
});

test('keeps the mode of the old file', async () => {
  const file = await folder.write('report.json', 'one');
  await chmod(file, 0o640);
  await writeOutput('--output', file, 'two');
  expect((await stat(file)).mode & 0o7777).toBe(0o640);
});

test('says in one line that the folder is missing, and creates none', async () => {
  const file = folder.at('missing', 'report.json');
  const writing = writeOutput('--output', file, 'x');
  await expect(writing).rejects.toThrow(UsageError);
  await expect(writing).rejects.toThrow(
    `--output ${file}: cannot be written (its folder does not exist: create it first)`,
  );
  expect(await readdir(folder.path)).toEqual([]);
});

test('refuses the name of a folder, and leaves no file behind', async () => {
  await mkdir(folder.at('taken', 'inside'), { recursive: true });
  const file = folder.at('taken');
  await expect(writeOutput('--save', file, 'x')).rejects.toThrow(
    `--save ${file}: cannot be written`,
  );
  expect(await readdir(folder.path)).toEqual(['taken']);
});

test('refuses a path whose folder is a file, and keeps that file', async () => {
  await folder.write('file', 'mine');
  await expect(writeOutput('--save', folder.at('file', 'x.json'), 'x')).rejects.toThrow(
    'its folder is a file',
  );
  expect(await readFile(folder.at('file'), 'utf8')).toBe('mine');
});

test('keeps the old file if the new file cannot be written', async () => {
  const file = await folder.write('report.json', 'old');
  await writeFile(`${file}.${process.pid}.part`, 'of somebody else');
  await expect(writeOutput('--output', file, 'new')).rejects.toThrow('cannot be written');
  expect(await readFile(file, 'utf8')).toBe('old');
});

const missingUser = process.getuid?.() === 0 ? 'a user other than root' : null;
describe('--output in a folder without write permission', needs(missingUser), () => {
  test('is refused, and the message says that this user may not write there', async () => {
    await chmod(folder.path, 0o500);
    await expect(writeOutput('--output', folder.at('x'), 'x')).rejects.toThrow(
      'this user may not write there',
    );
    await chmod(folder.path, 0o700);
  });

  test('writes into a file that is there, and keeps its mode', async () => {
    const file = await folder.write('report.json', 'a longer old report');
    await chmod(file, 0o604);
    await chmod(folder.path, 0o500);
    await writeOutput('--output', file, 'new');
    await chmod(folder.path, 0o700);
    expect(await readFile(file, 'utf8')).toBe('new');
    expect((await stat(file)).mode & 0o7777).toBe(0o604);
  });
});

const missingPipes = process.platform === 'win32' ? 'named pipes' : null;
describe('a named pipe', needs(missingPipes), () => {
  test('is written to, and stays a pipe', async () => {
    const pipe = folder.at('pipe');
    execFileSync('mkfifo', [pipe]);
    const [text] = await Promise.all([readFile(pipe, 'utf8'), writeOutput('--output', pipe, 'x')]);
    expect(text).toBe('x');
    expect((await stat(pipe)).isFIFO()).toBe(true);
  });
});
