import { FINALIZER } from '../../../../shared/names';
import { storageObjectInUseProtection } from './storage-object-in-use-protection';
import { attributesOf, outcomeOf } from '../testing/plugin-bench';

const plugin = storageObjectInUseProtection(true);

test.each([
  ['v1/persistentvolumeclaims', undefined, [FINALIZER.claimProtection]],
  ['v1/persistentvolumes', undefined, [FINALIZER.volumeProtection]],
  ['v1/persistentvolumeclaims', ['example.com/x'], ['example.com/x', FINALIZER.claimProtection]],
  [
    'v1/persistentvolumeclaims',
    [FINALIZER.claimProtection, 'example.com/x'],
    [FINALIZER.claimProtection, 'example.com/x'],
  ],
])('a new object of %s with finalizers %j gets %j', async (path, given, expected) => {
  const metadata = { name: 'x', ...(given === undefined ? {} : { finalizers: given }) };
  const outcome = await outcomeOf(plugin, attributesOf(path, { object: { metadata } }));
  expect(outcome).toEqual({ metadata: { name: 'x', finalizers: expected } });
});

test('updates keep their finalizers', () => {
  const subject = { operation: 'UPDATE', group: '', subresource: '', namespaced: true } as const;
  expect(plugin.concerns({ ...subject, resource: 'persistentvolumeclaims' })).toBe(false);
});

test('without the feature nothing is protected', async () => {
  const object = { metadata: { name: 'x' } };
  const attributes = attributesOf('v1/persistentvolumeclaims', { object });
  expect(await outcomeOf(storageObjectInUseProtection(false), attributes)).toEqual(object);
});
