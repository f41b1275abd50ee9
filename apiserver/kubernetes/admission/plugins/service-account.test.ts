import type { ApiObject } from '../../../../shared/object/object';
import { ANNOTATION, ROOT_CA, SECRET_TYPE, SERVICE_ACCOUNT_MOUNT_PATH } from '../../../../shared/names';
import * as RESOURCES from '../../cluster/resources';
import { SECRETS, SERVICE_ACCOUNTS } from '../../cluster/resources';
import { serviceAccount } from './service-account';
import { attributesOf, clusterOf, outcomeOf, resultOf } from '../testing/plugin-bench';
import type { ClusterReader } from '../../cluster/cluster-reader';

const PODS = 'v1/pods';
const plugin = serviceAccount({ randomInt: () => 0, boundTokens: true });

const accountOf = (name: string, more: object = {}, annotations: Record<string, string> = {}) =>
  [SERVICE_ACCOUNTS, { metadata: { name, namespace: 'ns', annotations }, ...more } as ApiObject] as const;

const ACCOUNTS = [
  accountOf('default'),
  accountOf('quiet', { automountServiceAccountToken: false }),
  accountOf('puller', { imagePullSecrets: [{ name: 'ps' }] }),
  accountOf(
    'strict',
    { automountServiceAccountToken: false, secrets: [{ name: 'own' }], imagePullSecrets: [{ name: 'ips' }] },
    { [ANNOTATION.enforceMountableSecrets]: 'true' },
  ),
];

const podOf = (spec: object, annotations?: Record<string, string>): ApiObject => ({
  metadata: { name: 'p', ...(annotations === undefined ? {} : { annotations }) },
  spec: { containers: [{ name: 'c' }], ...spec },
});

async function specAfter(spec: object, annotations?: Record<string, string>) {
  const outcome = await outcomeOf(
    plugin,
    attributesOf(PODS, { object: podOf(spec, annotations) }),
    clusterOf(ACCOUNTS),
  );
  return typeof outcome === 'string' ? outcome : outcome?.['spec'];
}

const mount = { name: 'kube-api-access-bbbbb', readOnly: true, mountPath: SERVICE_ACCOUNT_MOUNT_PATH };

describe('account', () => {
  test('defaults to `default`, and its token is mounted in every container', async () => {
    const spec = await specAfter({
      containers: [{ name: 'a' }, { name: 'b' }],
      initContainers: [{ name: 'i' }],
    });
    expect(spec).toEqual({
      serviceAccountName: 'default',
      serviceAccount: 'default',
      initContainers: [{ name: 'i', volumeMounts: [mount] }],
      containers: [
        { name: 'a', volumeMounts: [mount] },
        { name: 'b', volumeMounts: [mount] },
      ],
      volumes: [
        {
          name: mount.name,
          projected: {
            defaultMode: 420,
            sources: [
              { serviceAccountToken: { path: 'token', expirationSeconds: 3607 } },
              { configMap: { name: ROOT_CA.configMap, items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
              {
                downwardAPI: {
                  items: [
                    { path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } },
                  ],
                },
              },
            ],
          },
        },
      ],
    });
  });

  test.each([
    ['under its old name', { serviceAccount: 'quiet' }],
    ['under its new name, which wins', { serviceAccountName: 'quiet', serviceAccount: 'default' }],
  ])('can be named %s', async (_how, spec) => {
    expect(await specAfter(spec)).toEqual({
      containers: [{ name: 'c' }],
      serviceAccountName: 'quiet',
      serviceAccount: 'quiet',
    });
  });

  test('must exist', async () => {
    expect(await specAfter({ serviceAccountName: 'none' })).toBe(
      '403 pods "p" is forbidden: error looking up service account ns/none: serviceaccount "none" not found',
    );
  });

  test.each([
    [{ name: '' }, 'Unknown'],
    [{ generateName: 'g-' }, 'g-'],
    [{ name: '', generateName: 'g-' }, 'g-'],
  ])('that is missing is reported for a pod with the metadata %j as %s', async (metadata, name) => {
    const object = { ...podOf({ serviceAccountName: 'none' }), metadata };
    const outcome = await outcomeOf(plugin, attributesOf(PODS, { object, name: '' }), clusterOf(ACCOUNTS));
    expect(outcome).toMatch(`403 pods "${name}" is forbidden: `);
  });

  test('may be one that the cache does not know yet', async () => {
    const cluster = clusterOf([], [accountOf('quiet', { automountServiceAccountToken: false })]);
    const attributes = attributesOf(PODS, { object: podOf({ serviceAccountName: 'quiet' }) });
    expect(await outcomeOf(plugin, attributes, cluster)).toMatchObject({
      spec: { serviceAccountName: 'quiet' },
    });
    expect(cluster.freshened()).toBe(1);
  });

  test('named default is awaited on ever fresher objects, because a controller is about to create it', async () => {
    const made = clusterOf([accountOf('default', { automountServiceAccountToken: false })]);
    const late: ClusterReader = {
      ...made,
      get: (...asked) => (made.freshened() > 2 ? made.get(...asked) : undefined),
    };
    const outcome = await outcomeOf(plugin, attributesOf(PODS, { object: podOf({}) }), late);
    expect(outcome).toMatchObject({ spec: { serviceAccountName: 'default' } });
  });
});

describe('token', () => {
  test.each([
    ['the account does not want it mounted', { serviceAccountName: 'quiet' }],
    ['the pod does not want it mounted', { automountServiceAccountToken: false }],
    [
      'every container has something there',
      { containers: [{ name: 'c', volumeMounts: [{ name: 'v', mountPath: SERVICE_ACCOUNT_MOUNT_PATH }] }] },
    ],
  ])('is omitted if %s', async (_why, spec) => {
    expect(await specAfter(spec)).not.toHaveProperty('volumes');
  });

  test('is mounted if the pod requests it, whatever the account says', async () => {
    const spec = await specAfter({ serviceAccountName: 'quiet', automountServiceAccountToken: true });
    expect(spec).toMatchObject({ containers: [{ volumeMounts: [mount] }], volumes: [{ name: mount.name }] });
  });

  test('uses a volume that the pod provides', async () => {
    const volumes = [{ name: 'kube-api-access-mine', emptyDir: {} }];
    expect(await specAfter({ volumes })).toMatchObject({
      containers: [{ volumeMounts: [{ ...mount, name: 'kube-api-access-mine' }] }],
      volumes,
    });
  });
});

describe('pull secrets', () => {
  test('come from the account', async () => {
    expect(await specAfter({ serviceAccountName: 'puller' })).toMatchObject({
      imagePullSecrets: [{ name: 'ps' }],
    });
  });

  test('come from the pod if it has some', async () => {
    const spec = { serviceAccountName: 'puller', imagePullSecrets: [{ name: 'mine' }] };
    expect(await specAfter(spec)).toMatchObject({ imagePullSecrets: [{ name: 'mine' }] });
  });
});

describe('an account that enforces mountable secrets', () => {
  const env = (name: string) => [{ name: 'A', valueFrom: { secretKeyRef: { name, key: 'k' } } }];
  const envFrom = (name: string) => [{ secretRef: { name } }];
  const projected = (...names: readonly string[]) => ({
    name: 'v',
    projected: { sources: [{ configMap: { name: 'm' } }, ...names.map((name) => ({ secret: { name } }))] },
  });

  test.each([
    ['a volume of a listed secret', { volumes: [{ name: 'v', secret: { secretName: 'own' } }] }, undefined],
    [
      'a volume of another secret',
      { volumes: [{ name: 'v', secret: { secretName: 'x' } }] },
      'volume with secret.secretName="x" is not allowed',
    ],
    [
      'a variable of another secret',
      { containers: [{ name: 'c', env: env('x') }] },
      'container c with envVar A referencing secret.secretName="x"',
    ],
    [
      'a variable in an init container',
      { initContainers: [{ name: 'i', env: env('x') }] },
      'init container i with envVar A',
    ],
    ['all variables of a listed secret', { containers: [{ name: 'c', envFrom: envFrom('own') }] }, undefined],
    [
      'all variables of another secret',
      { containers: [{ name: 'c', envFrom: envFrom('x') }] },
      'container c with envFrom referencing secret.secretName="x" is not allowed because service account strict does not reference that secret',
    ],
    [
      'all variables of another secret in an init container',
      { initContainers: [{ name: 'i', envFrom: envFrom('x') }] },
      'init container i with envFrom referencing secret.secretName="x"',
    ],
    ['a projected volume of a listed secret', { volumes: [projected('own')] }, undefined],
    [
      'a projected volume of another secret',
      { volumes: [projected('own', 'x')] },
      'projected volume with secret.secretName="x" is not allowed',
    ],
    [
      'another pull secret',
      { imagePullSecrets: [{ name: 'ips' }, { name: 'x' }] },
      'imagePullSecrets[1].name="x" is not allowed',
    ],
  ])('%s', async (_what, spec, problem) => {
    const outcome = await specAfter({ serviceAccountName: 'strict', ...spec });
    expect(resultOf(outcome)).toContain(problem ?? 'admitted');
  });

  test.each([
    ['no secret', 'strict', {}, undefined],
    ['a variable of a listed secret', 'strict', { env: env('own') }, undefined],
    [
      'a variable of another secret',
      'strict',
      { env: env('x') },
      'ephemeral container e with envVar A referencing secret.secretName="x" is not allowed because service account strict does not reference that secret',
    ],
    [
      'all variables of another secret',
      'strict',
      { envFrom: envFrom('x') },
      'ephemeral container e with envFrom referencing secret.secretName="x" is not allowed',
    ],
    ['any secret, for an account that allows any', 'default', { env: env('x') }, undefined],
    ['an account that is gone', 'gone', {}, 'error looking up service account ns/gone'],
  ])('an ephemeral container added with %s', async (_what, serviceAccountName, more, problem) => {
    const metadata = { name: 'p', namespace: 'ns', uid: 'u' };
    const shown = (...ephemeralContainers: readonly object[]): ApiObject => ({
      metadata,
      ephemeralContainers,
    });
    const given = {
      operation: 'UPDATE',
      subresource: 'ephemeralcontainers',
      object: shown({ name: 'e', ...more }),
      oldObject: shown(),
    } as const;
    const other = { ...podOf({ serviceAccountName: 'default' }), metadata: { ...metadata, uid: 'before' } };
    const pod = { ...podOf({ serviceAccountName }), metadata };
    // The cache first knows another pod of that name.
    const cluster = clusterOf([...ACCOUNTS, [RESOURCES.PODS, other]], []);
    const fresh = clusterOf([...ACCOUNTS, [RESOURCES.PODS, pod]]);
    const outcome = await outcomeOf(plugin, attributesOf(PODS, given), {
      ...cluster,
      get: (...asked) => (cluster.freshened() > 0 ? fresh : cluster).get(...asked),
    });
    expect(resultOf(outcome)).toContain(problem ?? 'admitted');
  });

  test('other changes of a pod are ignored', () => {
    const subject = { operation: 'UPDATE', group: '', resource: 'pods', namespaced: true } as const;
    const concerned = ['', 'status', 'ephemeralcontainers', 'binding'].filter((subresource) =>
      plugin.concerns({ ...subject, subresource }),
    );
    expect(concerned).toEqual(['ephemeralcontainers']);
  });
});

describe('a mirror pod', () => {
  test.each([
    ['stays as it is', {}, undefined],
    ['has no account', { serviceAccountName: 'default' }, 'may not reference service accounts'],
    [
      'has no secret volume',
      { volumes: [{ name: 'v', secret: { secretName: 's' } }] },
      'may not reference secrets',
    ],
    [
      'has no variables of secrets',
      { containers: [{ name: 'c', envFrom: [{ secretRef: { name: 's' } }] }] },
      'may not reference secrets',
    ],
    [
      'has no token',
      { volumes: [{ name: 'v', projected: { sources: [{ serviceAccountToken: { path: 't' } }] } }] },
      'may not use ServiceAccountToken volume projections',
    ],
  ])('%s', async (_what, spec, problem) => {
    const outcome = await specAfter(spec, { [ANNOTATION.mirrorPod]: 'x' });
    expect(resultOf(outcome)).toContain(problem ?? 'admitted');
  });
});

describe('without bound tokens', () => {
  const unbound = serviceAccount({ randomInt: () => 0, boundTokens: false });
  const secretOf = (name: string, uid: string, type: string = SECRET_TYPE.serviceAccountToken) =>
    [
      SECRETS,
      {
        metadata: {
          name,
          namespace: 'ns',
          annotations: {
            [ANNOTATION.serviceAccountName]: 'old',
            [ANNOTATION.serviceAccountUid]: uid,
          },
        },
        type,
      } as ApiObject,
    ] as const;
  const cluster = clusterOf([
    [
      SERVICE_ACCOUNTS,
      {
        metadata: { name: 'old', namespace: 'ns', uid: 'u1' },
        secrets: [{ name: 'gone' }, { name: 'plain' }, { name: 'former' }, { name: 't.1' }, { name: 't.2' }],
      },
    ],
    ...ACCOUNTS,
    secretOf('plain', 'u1', 'Opaque'),
    secretOf('former', 'u0'),
    secretOf('t.1', 'u1'),
    secretOf('t.2', 'u1'),
  ]);
  const outcome = (spec: object) => outcomeOf(unbound, attributesOf(PODS, { object: podOf(spec) }), cluster);
  const at = (name: string) => ({ name, readOnly: true, mountPath: SERVICE_ACCOUNT_MOUNT_PATH });
  const volume = { name: 't-1', secret: { secretName: 't.1', defaultMode: 420 } };

  test('the first Secret with a token of the account is mounted', async () => {
    expect(await outcome({ serviceAccountName: 'old' })).toMatchObject({
      spec: { containers: [{ name: 'c', volumeMounts: [at('t-1')] }], volumes: [volume] },
    });
  });

  test('an existing volume of that name or Secret is kept', async () => {
    const taken = { name: 't-1', emptyDir: {} };
    expect(await outcome({ serviceAccountName: 'old', volumes: [taken] })).toMatchObject({
      spec: {
        containers: [{ name: 'c', volumeMounts: [at('t-1-bbbbb')] }],
        volumes: [taken, { ...volume, name: 't-1-bbbbb' }],
      },
    });
    const own = { name: 'own', secret: { secretName: 't.1' } };
    expect(await outcome({ serviceAccountName: 'old', volumes: [own] })).toMatchObject({
      spec: { containers: [{ name: 'c', volumeMounts: [at('own')] }], volumes: [own] },
    });
  });

  test('an account without a token is a retryable error unless the pod mounts nothing', async () => {
    expect(await outcome({})).toBe(
      '500 No API token found for service account "default", retry after the token is automatically created and added to the service account',
    );
    expect(resultOf(await outcome({ serviceAccountName: 'quiet' }))).toBe('admitted');
  });
});
