import { Field, Root, Type } from 'protobufjs';
import { encodeShared, encodeTxn } from './encode-txn';
import { COMPARE_TARGET, MESSAGES } from './proto';
import type { Compare, RequestOp, TxnRequest } from './proto';

const FRAME_HEAD_BYTES = 5;
const key = Buffer.from('/registry/pods/a/b');

const root = new Root();
for (const [name, fields] of Object.entries(MESSAGES)) {
  const type = new Type(name);
  for (const [field, text] of Object.entries(fields)) {
    const [number = '', kind = '', rule] = text.split(' ').toReversed();
    type.add(new Field(field, Number(number), kind, rule));
  }
  root.add(type);
}
const reference = root.lookupType('TxnRequest');

function written(request: TxnRequest): Buffer {
  return encodeTxn(request).subarray(FRAME_HEAD_BYTES);
}

function expected(request: TxnRequest): Buffer {
  return Buffer.from(reference.encode(request).finish());
}

const NUMBERS = [0, 1, 127, 128, 16_383, 16_384, 2 ** 31, 2 ** 32 + 5, 2 ** 49 + 3, Number.MAX_SAFE_INTEGER];
const LENGTHS = [0, 1, 127, 128, 70_000];

const comparisons: readonly Compare[] = NUMBERS.flatMap((number) => [
  { target: COMPARE_TARGET.mod, key, modRevision: number },
  { target: COMPARE_TARGET.create, key, createRevision: number },
  { target: COMPARE_TARGET.version, key, version: number },
]);
const operations: readonly RequestOp[] = [
  ...LENGTHS.map((length) => ({ put: { key, value: Buffer.alloc(length, 'x') } })),
  ...LENGTHS.map((length) => ({ put: { key: Buffer.alloc(length, 'k'), value: Buffer.from('v') } })),
  ...NUMBERS.filter((lease) => lease > 0).map((lease) => ({ put: { key, value: Buffer.from('v'), lease } })),
  { range: { key } },
  { range: { key, keysOnly: true } },
  { deleteRange: { key, prevKv: true } },
];

test('a transaction is written as protobufjs writes it', () => {
  for (const compare of comparisons) {
    for (const operation of operations) {
      const request = { compare: [compare], success: [operation], failure: [operation] };
      expect(written(request).equals(expected(request))).toBe(true);
    }
  }
});

test('any number of parts keeps its order', () => {
  const request = { compare: comparisons, success: operations, failure: operations.toReversed() };
  expect(written(request).equals(expected(request))).toBe(true);
  const empty = { compare: [], success: [], failure: [] };
  expect(written(empty)).toHaveLength(0);
});

test('shared parts are appended to the parts of each transaction', () => {
  const own = { compare: comparisons.slice(0, 2), success: operations, failure: [{ range: { key } }] };
  const identity = Buffer.from('/registry/identity');
  const shared: TxnRequest = {
    compare: [{ target: COMPARE_TARGET.mod, key: identity, modRevision: 7 }],
    success: [],
    failure: [{ range: { key: identity, keysOnly: true } }],
  };
  const bytes = written({ ...own, encoded: encodeShared(shared) });
  const together = {
    compare: [...own.compare, ...shared.compare],
    success: own.success,
    failure: [...own.failure, ...shared.failure],
  };
  expect(reference.toObject(reference.decode(bytes))).toEqual(
    reference.toObject(reference.decode(expected(together))),
  );
});
