import { DEFAULT_PLUGIN_NAMES, PLUGIN_NAMES, choosePlugins } from './plugins';

const context = {
  authorize: async () => Promise.resolve({ decision: 'allow', reason: '' }) as never,
  randomInt: () => 0,
  clock: { now: () => 0 },
  tolerationSeconds: { notReady: 300, unreachable: 300 },
  configurations: new Map([['EventRateLimit', { limits: [{ type: 'Server', qps: 1, burst: 1 }] }]]),
  provideNamespace: async () => Promise.resolve(),
  resourceOfKind: () => undefined,
};
const chosen = (enable: readonly string[], disable: readonly string[]) =>
  choosePlugins({ enable, disable }, context).map(({ name }) => name);

test('by default the plugins run that do so in kube-apiserver v1.21, in its order', () => {
  expect(chosen([], [])).toEqual([
    'NamespaceLifecycle',
    'LimitRanger',
    'ServiceAccount',
    'TaintNodesByCondition',
    'Priority',
    'DefaultTolerationSeconds',
    'DefaultStorageClass',
    'StorageObjectInUseProtection',
    'PersistentVolumeClaimResize',
    'RuntimeClass',
    'CertificateApproval',
    'CertificateSigning',
    'CertificateSubjectRestriction',
    'DefaultIngressClass',
  ]);
  expect(chosen([], [])).toEqual(DEFAULT_PLUGIN_NAMES);
});

test('plugins can be switched off, and on in whatever order', () => {
  expect(chosen([], ['Priority', 'LimitRanger'])).toEqual(
    DEFAULT_PLUGIN_NAMES.filter((name) => name !== 'Priority' && name !== 'LimitRanger'),
  );
  expect(chosen(PLUGIN_NAMES.toReversed(), [])).toEqual(PLUGIN_NAMES);
});
