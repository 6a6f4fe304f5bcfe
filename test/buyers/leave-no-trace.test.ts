import { afterEach, expect, it } from 'vitest';
import { leaveNoTrace } from '../../src/buyers/try-on-thread.ts';

const push = Array.prototype.push;
afterEach(() => {
  Reflect.deleteProperty(Object.prototype, 'polluted');
  Array.prototype.push = push;
});

it('hands on what work answers that changed nothing', async () => {
  await expect(leaveNoTrace(async () => 'answer')).resolves.toBe('answer');
});

it('refuses a member that every object would inherit', async () => {
  const pollute = async () => Reflect.set(Object.prototype, 'polluted', true);
  await expect(leaveNoTrace(pollute)).rejects.toThrow('every object');
});

it('refuses a method in the place of another', async () => {
  const replace = async () => {
    Array.prototype.push = () => 0;
  };
  await expect(leaveNoTrace(replace)).rejects.toThrow('every object');
});
