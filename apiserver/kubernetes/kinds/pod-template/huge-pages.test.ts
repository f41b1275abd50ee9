import type { FieldError } from '../../../../shared/errors/field-error';
import type { ApiObject } from '../../../../shared/object/object';
import type { Strategy, WriteInfo } from '../../../engine/registry/strategy';
import { DEFAULT_KIND_SETTINGS } from '../../../engine/registry/strategy';
import { withHugePages } from './huge-pages';

const info = (...gates: readonly string[]): WriteInfo => ({
  via: { group: '', version: 'v1' },
  user: { name: 'jane', uid: '', groups: [], extra: {} },
  nowMs: 0,
  settings: { ...DEFAULT_KIND_SETTINGS, gates: new Set(gates) },
});

/** A pod whose containers throw when they are read. */
const unread: ApiObject = {
  metadata: { name: 'x' },
  get spec(): never {
    throw new Error('looked at');
  },
};

const fault: FieldError = { reason: 'FieldValueInvalid', field: 'spec', message: 'no' };
const rules: Strategy = { validate: () => [fault], validateUpdate: () => [fault] };

test('the rules of objects stay apart from those of changes', () => {
  const strategy = withHugePages('apps/replicasets', rules);
  expect(strategy?.validate?.({ metadata: {} }, info())).toEqual([fault]);
  expect(strategy?.validateUpdate?.({ metadata: {} }, { metadata: {} }, info())).toEqual([fault]);
});

test('what a pod was is not looked at for faults of another kind, nor for several sizes that it has not', () => {
  const strategy = withHugePages('core/pods', {});
  expect(strategy?.ratchets?.([fault], unread, info())).toEqual([fault]);
  const resources = { limits: { 'hugepages-2Mi': '2Mi' } };
  const one = { metadata: {}, spec: { containers: [{ name: 'c', resources }] } };
  const on = info('HugePageStorageMediumSize');
  expect(strategy?.validateUpdate?.(unread, unread, on)).toEqual([]);
  const before = {
    metadata: {},
    spec: {
      containers: [
        {
          name: 'c',
          get resources(): never {
            throw new Error('looked at');
          },
        },
      ],
    },
  };
  expect(strategy?.validateUpdate?.(one, before, info())).toEqual([]);
});
