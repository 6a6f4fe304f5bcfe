import { afterEach, expect, test } from 'vitest';
import { withPrototypeCheck } from '../../../src/scanner/clients/try-on-thread.ts';

const push = Array.prototype.push;
afterEach(() => {
  Reflect.deleteProperty(Object.prototype, 'polluted');
  Array.prototype.push = push;
});

test('returns the result of work that changed nothing', async () => {
  await expect(withPrototypeCheck(async () => 'answer')).resolves.toBe('answer');
});

test('refuses work that adds a member to every object', async () => {
  const pollute = async () => Reflect.set(Object.prototype, 'polluted', true);
  await expect(withPrototypeCheck(pollute)).rejects.toThrow('every object');
});

test('refuses work that replaces a built-in method', async () => {
  const replace = async () => {
    Array.prototype.push = () => 0;
  };
  await expect(withPrototypeCheck(replace)).rejects.toThrow('every object');
});
