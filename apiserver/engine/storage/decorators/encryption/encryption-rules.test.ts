import { inspect } from 'node:util';
import { parseEncryptionRules } from './encryption-rules';

const SECRET = Buffer.alloc(32, 7).toString('base64');
const KEYS = { keys: [{ name: 'key1', secret: SECRET }] };

function configuration(...providers: object[]): unknown {
  return {
    kind: 'EncryptionConfiguration',
    apiVersion: 'apiserver.config/v1',
    resources: [{ resources: ['secrets', 'deployments.apps'], providers }],
  };
}

test('resources are named as in Kubernetes, and the first provider comes first', () => {
  const parsed = parseEncryptionRules(
    configuration(
      { aescbc: KEYS },
      { kms: { name: 'a', endpoint: 'unix:///run/kms.sock' } },
      { identity: {} },
    ),
  );
  if (!parsed.ok) throw new Error(parsed.problems.join('\n'));
  const { resources, services } = parsed.rules;
  expect([...resources.keys()]).toEqual(['core/secrets/', 'apps/deployments/']);
  expect(resources.get('core/secrets/')?.map(({ kind }) => kind)).toEqual(['aescbc', 'kms', 'identity']);
  expect(services).toEqual([
    { kind: 'kms', name: 'a', endpoint: 'unix:///run/kms.sock', timeoutMs: 3_000, cacheSize: 1_000 },
  ]);
});

test('printed rules do not contain keys', () => {
  const parsed = parseEncryptionRules(configuration({ aescbc: KEYS }));
  if (!parsed.ok) throw new Error(parsed.problems.join('\n'));
  const providers = [...parsed.rules.resources.values()];
  for (const text of [JSON.stringify(providers), inspect(providers, { depth: 9 })]) {
    expect(text).toContain('key1');
    expect(text).not.toContain(SECRET);
    expect(text).not.toContain(Buffer.from(SECRET, 'base64').toString('hex'));
  }
});

const AT = 'resources[0].providers[0]';

test.each<readonly [string, unknown, string]>([
  ['another kind', { kind: 'Pod' }, 'kind must be EncryptionConfiguration, not "Pod"'],
  [
    'no resources',
    { kind: 'EncryptionConfiguration' },
    'resources: Required value: at least one resources is required',
  ],
  [
    'no names',
    { kind: 'EncryptionConfiguration', resources: [{ providers: [{ identity: {} }] }] },
    'resources[0].resources: Required value: at least one resources[0].resources is required',
  ],
  [
    'no provider',
    configuration(),
    'resources[0].providers: Required value: at least one resources[0].providers is required',
  ],
  [
    'an unknown provider',
    configuration({ rot13: {} }),
    `${AT}: Invalid value: []string{"rot13"}: provider does not contain any of the expected providers: KMS, AESGCM, AESCBC, Secretbox, Identity`,
  ],
  [
    'two in one',
    configuration({ aescbc: KEYS, identity: {} }),
    `${AT}: Invalid value: []string{"aescbc", "identity"}: more than one provider specified in a single element, should split into different list elements`,
  ],
  [
    'no keys',
    configuration({ aesgcm: {} }),
    `${AT}.aesgcm.keys: Required value: at least one keys is required`,
  ],
  [
    'no name',
    configuration({ aescbc: { keys: [{ secret: SECRET }] } }),
    `${AT}.aescbc.keys[0].name: Required value: name is a mandatory field for a key`,
  ],
  [
    'no secret',
    configuration({ aescbc: { keys: [{ name: 'a' }] } }),
    `${AT}.aescbc.keys[0].secret: Required value: secret is a mandatory field for a key`,
  ],
  [
    'a secret in another encoding',
    configuration({ aescbc: { keys: [{ name: 'a', secret: 'o-_o' }] } }),
    `${AT}.aescbc.keys[0].secret: Invalid value: "REDACTED": secrets must be base64 encoded`,
  ],
  [
    'a short secret',
    configuration({ secretbox: { keys: [{ name: 'a', secret: 'AAAA' }] } }),
    `${AT}.secretbox.keys[0].secret: Invalid value: "REDACTED": secret is not of the expected length, got 3, expected one of [32]`,
  ],
  [
    'a service without a name',
    configuration({ kms: { endpoint: 'unix:///a' } }),
    `${AT}.kms.name: Required value: name is a mandatory field for a provider`,
  ],
  [
    'a service on another machine',
    configuration({ kms: { name: 'a', endpoint: 'tcp://localhost:1' } }),
    `${AT}.kms.endpoint: Invalid value: "tcp://localhost:1": unsupported scheme "tcp" for KMS provider, only unix is supported`,
  ],
  [
    'a service nowhere',
    configuration({ kms: { name: 'a' } }),
    `${AT}.kms.endpoint: Invalid value: "": endpoint is a mandatory field for a kms`,
  ],
  [
    'no time',
    configuration({ kms: { name: 'a', endpoint: 'unix:///a', timeout: '0s' } }),
    `${AT}.kms.timeout: Invalid value: "0s": timeout should be a positive value`,
  ],
  [
    'no cache',
    configuration({ kms: { name: 'a', endpoint: 'unix:///a', cachesize: 0 } }),
    `${AT}.kms.cachesize: Invalid value: 0: cachesize should be a positive value, or negative to disable`,
  ],
])('%s is refused with its place', (_name, written, problem) => {
  expect(parseEncryptionRules(written)).toEqual({ ok: false, problems: [problem] });
});
