/**
 * No member can be added to what every object inherits: whatever an origin makes the clients merge, the
 * checks that are judged after them on the same thread see their own. Imported early, for its effect.
 */
const INHERITED = [
  Object,
  Array,
  Function,
  String,
  Number,
  Boolean,
  BigInt,
  RegExp,
  Map,
  Set,
  Promise,
  Error,
];

for (const { prototype } of INHERITED) Object.preventExtensions(prototype);

export {};
