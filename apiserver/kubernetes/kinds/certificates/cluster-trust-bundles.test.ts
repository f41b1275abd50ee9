import { LOOP_BOUNDS, TooLargeHereError } from '../../../engine/request/loop-bounds';
import { DEFAULT_KIND_SETTINGS } from '../../../engine/registry/strategy';
import { clusterTrustBundles } from './cluster-trust-bundles';

const BLOCK = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n';
const info = {
  via: { group: 'certificates', version: 'v1beta1' },
  user: { name: 'u', uid: '', groups: [], extra: {} },
  nowMs: 0,
  settings: DEFAULT_KIND_SETTINGS,
};

function errorsOf(blocks: number, bounds?: typeof LOOP_BOUNDS): readonly string[] {
  const bundle = { metadata: { name: 'b' }, spec: { trustBundle: BLOCK.repeat(blocks) } };
  const errors = clusterTrustBundles.strategy?.validateNew?.(bundle, { ...info, bounds }) ?? [];
  return errors.map(({ message }) => message);
}

test('a bundle of many certificates is not parsed on the event loop', () => {
  expect(errorsOf(10, LOOP_BOUNDS)).toHaveLength(10);
  expect(() => errorsOf(11, LOOP_BOUNDS)).toThrow(TooLargeHereError);
  expect(errorsOf(11)).toHaveLength(11);
});

test('certificates after the limit of reported errors are not parsed', () => {
  expect(errorsOf(5_000)).toHaveLength(1_001);
});
