/** `toAddressBlock` decides which addresses count as one client. */
import { expect, test } from 'vitest';
import { toAddressBlock } from '../../../src/service/turns/client-key.ts';

test.each([
  ['198.51.100.7', '198.51.100.7'],
  ['198.51.100.7:4431', '198.51.100.7'],
  ['[2001:db8::5]:443', '2001:db8::'],
  ['2001:db8:1:2:ffff:ffff:ffff:ffff', '2001:db8:1:2::'],
  ['2001:DB8:1:2:3:4:5:6', '2001:db8:1:2::'],
  ['::1', '::'],
  // A socket may write an IPv4 address in IPv6 form.
  ['::ffff:198.51.100.7', '198.51.100.7'],
  ['::ffff:c633:6407', '198.51.100.7'],
  // The sender chooses the zone, so the key ignores the zone.
  ['fe80::1%eth0', 'fe80::'],
  ['fe80::1%other', 'fe80::'],
  ['unknown', 'unknown'],
  ['_Hidden', '_hidden'],
  ['', ''],
])('the address %s counts as the client %s', (ip, block) => {
  expect(toAddressBlock(ip, 64)).toBe(block);
});

test('a wider block holds more addresses', () => {
  expect(toAddressBlock('2001:db8:1:2:3::', 48)).toBe('2001:db8:1::');
});
