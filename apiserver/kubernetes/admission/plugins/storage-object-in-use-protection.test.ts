import { FINALIZER, GROUP } from '../../../../shared/names';
import { storageObjectInUseProtection } from './storage-object-in-use-protection';
import { attributesOf, outcomeOf } from '../testing/plugin-bench';

const plugin = storageObjectInUseProtection({ claimsAndVolumes: true, classes: true });

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
  expect(
    await outcomeOf(storageObjectInUseProtection({ claimsAndVolumes: false, classes: true }), attributes),
  ).toEqual(object);
});

test('a new VolumeAttributesClass is protected while the feature is on', async () => {
  const object = { metadata: { name: 'x' } };
  const endpoint = { row: { group: GROUP.storage, version: 'v1', resource: 'volumeattributesclasses' } };
  const attributes = { ...attributesOf('v1/persistentvolumes', { object }) };
  const ofClass = { ...attributes, write: { ...attributes.write, endpoint } } as typeof attributes;
  const outcome = async (classes: boolean): Promise<unknown> =>
    outcomeOf(storageObjectInUseProtection({ claimsAndVolumes: true, classes }), ofClass);
  expect(await outcome(false)).toEqual(object);
  expect(await outcome(true)).toEqual({
    metadata: { name: 'x', finalizers: [FINALIZER.classProtection] },
  });
});
