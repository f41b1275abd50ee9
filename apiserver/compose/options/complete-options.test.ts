import { GATES } from '../../../shared/flags/feature-gate-table';
import { isOnByDefault } from '../../../shared/flags/feature-gate-table';
import { FIELD_GATES, SERVER_GATES } from '../../kubernetes/kinds/field-gates';
import { getHeapStatistics } from 'node:v8';
import { helpText } from '../../../shared/flags/help';
import { parseFlags } from '../../../shared/flags/parse-flags';
import type { CompletedOptions } from './complete-options';
import { completeOptions } from './complete-options';
import { FLAG_ROWS } from './flag-rows';

const ETCD = '--etcd-servers=https://127.0.0.1:2379';

function complete(...argv: string[]): CompletedOptions {
  const parsed = parseFlags(FLAG_ROWS, argv);
  if (parsed.outcome !== 'values') throw new Error(JSON.stringify(parsed));
  return completeOptions(parsed.values);
}

function options(...argv: string[]) {
  const completed = complete(...argv);
  if (!completed.ok) throw new Error(completed.errors.join('\n'));
  return completed.options;
}

function errors(...argv: string[]): readonly string[] {
  const completed = complete(...argv);
  return completed.ok ? [] : completed.errors;
}

test('handshakes are rate limited by two flags, or unlimited', () => {
  const { serving } = options(ETCD, '--tls-handshake-rate=50', '--tls-handshake-burst=70');
  expect(serving.handshakes).toEqual({ perSecond: 50, burst: 70 });
  expect(options(ETCD, '--tls-handshake-rate=0').serving.handshakes).toBeUndefined();
});

test('requests are limited by priority and fairness by default, else by number, and never unlimited by mistake', () => {
  const max = { readOnly: 400, mutating: 200 };
  expect(options(ETCD).flow).toEqual({
    isFair: true,
    max,
    waitMsMax: 15_000,
    bytesMax: expect.any(Number) as unknown,
    sharedBy: undefined,
  });
  expect(options(ETCD, '--enable-priority-and-fairness=false').flow.isFair).toBe(false);
  expect(options(ETCD, '--feature-gates=APIPriorityAndFairness=false').flow.isFair).toBe(false);
  const none = ['--max-requests-inflight=0', '--max-mutating-requests-inflight=0'];
  expect(errors(ETCD, ...none)).toEqual([expect.stringContaining('must not both be 0')]);
  expect(errors(ETCD, ...none, '--enable-priority-and-fairness=false')).toEqual([]);
});

test('the memory limit of requests in flight is that of a flag, or half of the heap', () => {
  expect(options(ETCD, '--max-inflight-bytes=100000000').flow.bytesMax).toBe(100_000_000);
  expect(options(ETCD).flow.bytesMax).toBe(getHeapStatistics().heap_size_limit / 2);
  expect(errors(ETCD, '--max-inflight-bytes=1000')).toEqual([
    '--max-inflight-bytes must be 0 or at least 33554432',
  ]);
});

test('a Redis address enables shared limits, with TLS or without', () => {
  const redis = 'rediss://redis.example.com:6380';
  expect(options(ETCD, `--shared-limits-redis=${redis}`).flow.sharedBy).toEqual({ url: redis });
  const withCa = options(ETCD, `--shared-limits-redis=${redis}`, '--shared-limits-redis-ca-file=ca.pem');
  expect(withCa.flow.sharedBy).toEqual({ url: redis, caFile: 'ca.pem' });
  expect(errors(ETCD, '--shared-limits-redis=redis.example.com')).toEqual([
    '--shared-limits-redis must begin with rediss:// or redis://',
  ]);
});

test('the password of a Redis address comes from the environment, and no error contains it', () => {
  process.env['ORCH_TEST_PASSWORD'] = 'hidden';
  const keyFile = '--shared-webhook-cache-key-file=k';
  const both = (url: string): readonly string[] => [
    ETCD,
    keyFile,
    `--shared-limits-redis=${url}`,
    `--shared-webhook-cache-redis=${url}`,
  ];
  const { flow, sharedAnswers } = options(...both('rediss://:$(ORCH_TEST_PASSWORD)@a'));
  expect([flow.sharedBy?.url, sharedAnswers?.url]).toEqual(['rediss://:hidden@a', 'rediss://:hidden@a']);
  expect(errors(...both('http://:$(ORCH_TEST_PASSWORD)@a'))).toEqual([
    '--shared-limits-redis must begin with rediss:// or redis://',
    '--shared-webhook-cache-redis must begin with rediss:// or redis://',
  ]);
  delete process.env['ORCH_TEST_PASSWORD'];
  expect(errors(...both('rediss://:$(ORCH_TEST_PASSWORD)@a'))).toEqual([
    '--shared-limits-redis names the variable $(ORCH_TEST_PASSWORD), which is not set',
    '--shared-webhook-cache-redis names the variable $(ORCH_TEST_PASSWORD), which is not set',
  ]);
});

test('a Redis address and a separate secret enable shared webhook responses', () => {
  const redis = '--shared-webhook-cache-redis=rediss://redis.example.com:6380';
  expect(options(ETCD).sharedAnswers).toBeUndefined();
  expect(options(ETCD, redis, '--shared-webhook-cache-key-file=k').sharedAnswers).toEqual({
    url: 'rediss://redis.example.com:6380',
    keyFile: 'k',
  });
  expect(errors(ETCD, redis)).toEqual(['--shared-webhook-cache-redis needs --shared-webhook-cache-key-file']);
  expect(
    errors(ETCD, '--shared-webhook-cache-redis=example.com', '--shared-webhook-cache-key-file=k'),
  ).toEqual(['--shared-webhook-cache-redis must begin with rediss:// or redis://']);
});

test('with only etcd servers given, every other option has its default', () => {
  expect(options(ETCD, '--advertise-address=192.0.2.7')).toMatchObject({
    advertiseAddress: '192.0.2.7',
    serving: {
      bindAddress: '0.0.0.0',
      port: 6443,
      certificate: { from: 'self-signed', dir: '/var/run/orch' },
      minTlsVersion: 'TLSv1.2',
      handshakes: { perSecond: 300, burst: 10_000 },
    },
    requests: { timeoutMs: 60_000, minWatchTimeoutSeconds: 1_800 },
    store: {
      backend: 'etcd3',
      endpoints: ['https://127.0.0.1:2379'],
      prefix: '/registry',
      compactionIntervalMs: 300_000,
    },
    watchCache: { ringBytesMax: 67_108_864, derivedBytesMax: 134_217_728, snapshotBytesMax: 67_108_864 },
    authorizationModes: ['AlwaysAllow'],
    logging: { format: 'text', verbosity: 0 },
    shutdownDelayMs: 0,
    livezGraceMs: 0,
    identity: undefined,
    eventTtlSeconds: 3_600,
  });
});

test('the generated certificate has to name the advertised address and the external host', () => {
  const { serving } = options(ETCD, '--advertise-address=192.0.2.7', '--external-hostname=api.example.com');
  expect(serving.certificate).toMatchObject({
    hosts: expect.arrayContaining(['localhost', '192.0.2.7', 'api.example.com']) as string[],
  });
});

test('given certificate files replace the generated one', () => {
  const { serving } = options(
    ETCD,
    '--tls-cert-file=a.crt',
    '--tls-private-key-file=a.key',
    '--tls-min-version=VersionTLS13',
  );
  expect(serving).toMatchObject({
    certificate: { from: 'files', certFile: 'a.crt', keyFile: 'a.key' },
    minTlsVersion: 'TLSv1.3',
  });
});

test('the embedded store needs its directory and no etcd', () => {
  expect(options('--storage-backend=embedded', '--embedded-dir=d').store).toMatchObject({
    backend: 'embedded',
    dir: 'd',
    isSynced: true,
  });
  expect(errors('--storage-backend=embedded', ETCD)).toEqual([
    '--embedded-dir is needed with --storage-backend=embedded',
    '--etcd-servers needs --storage-backend=etcd3',
  ]);
  expect(errors('--storage-backend=embedded', '--embedded-dir=d', '--etcd-prefix=//')).toEqual([
    '--etcd-prefix must not be empty',
  ]);
});

test('mutual TLS to etcd needs all of its files, and the slashes of the prefix are normalized', () => {
  const argv = [
    '--etcd-servers=https://a:1/,https://b:2',
    '--etcd-cafile=ca',
    '--etcd-certfile=c',
    '--etcd-keyfile=k',
  ];
  expect(options(...argv, '--etcd-prefix=here/there/').store).toMatchObject({
    endpoints: ['https://a:1', 'https://b:2'],
    caFile: 'ca',
    client: { certFile: 'c', keyFile: 'k' },
    prefix: '/here/there',
  });
});

test.each([
  [[], '--etcd-servers is needed'],
  [['--etcd-servers=localhost:2379'], 'must be like https://host:2379'],
  [[ETCD, '--tls-cert-file=a.crt'], 'must be given together'],
  [[ETCD, '--etcd-keyfile=k'], 'must be given together'],
  [[ETCD, '--bind-address=localhost'], 'must be an IP address'],
  [[ETCD, '--advertise-address=example.com'], 'must be an IP address'],
  [[ETCD, '--embedded-dir=d'], 'needs --storage-backend=embedded'],
  [[ETCD, '--etcd-prefix=/'], 'must not be empty'],
  [[ETCD, '--request-timeout=10ms'], 'at least 1s'],
  [[ETCD, '--authorization-mode=AlwaysAllow,AlwaysAllow'], 'twice'],
  [[ETCD, '--authorization-mode='], 'at least one mode'],
])('%j is rejected', (argv, problem) => {
  expect(errors(...argv)).toEqual([expect.stringContaining(problem)]);
});

test('AlwaysAllow disables anonymous requests with a warning', () => {
  const completed = complete(ETCD, '--anonymous-auth=true', '--token-auth-file=t');
  expect(completed).toMatchObject({
    ok: true,
    options: { authentication: { anonymous: false, tokenFile: 't' } },
  });
  expect(completed.ok && completed.warnings).toEqual([
    expect.stringContaining('AlwaysAllow is enabled'),
    expect.stringContaining('anonymous requests are disabled'),
  ]);
});

test('RBAC enables anonymous requests without a warning', () => {
  const completed = complete(ETCD, '--authorization-mode=RBAC');
  expect(completed).toMatchObject({
    ok: true,
    options: { authentication: { anonymous: true }, authorizationModes: ['RBAC'] },
    warnings: [],
  });
});

test('etcd without TLS causes a warning, even on the loopback interface', () => {
  const servers = 'http://127.0.0.1:2379,https://etcd-1:2379,http://etcd-2:2379';
  const completed = complete(`--etcd-servers=${servers}`, '--authorization-mode=RBAC');
  expect(completed.ok && completed.warnings).toEqual([
    expect.stringContaining(
      'etcd is reached without TLS (http://127.0.0.1:2379, http://etcd-2:2379): every client that can connect to it',
    ),
  ]);
});

test('the modes of a kubeadm cluster are accepted, and others rejected', () => {
  expect(options(ETCD, '--authorization-mode=Node,RBAC').authorizationModes).toEqual(['Node', 'RBAC']);
  expect(() => complete(ETCD, '--authorization-mode=Nodes')).toThrow(
    'not one of AlwaysAllow, AlwaysDeny, ABAC, Webhook, RBAC, Node',
  );
});

test('only the mode ABAC requires a policy file, and only it accepts one', () => {
  expect(errors(ETCD, '--authorization-mode=ABAC')).toEqual([
    '--authorization-mode=ABAC needs --authorization-policy-file',
  ]);
  expect(errors(ETCD, '--authorization-policy-file=p')).toEqual([
    '--authorization-policy-file needs --authorization-mode=ABAC',
  ]);
  expect(errors(ETCD, '--authorization-mode=ABAC', '--authorization-policy-file=/nowhere')).toEqual([
    expect.stringMatching(/^error reading policy file \/nowhere: /),
  ]);
});

test('only the mode Webhook requires a kubeconfig, and only it accepts one', () => {
  const file = '--authorization-webhook-config-file=w';
  expect(options(ETCD, '--authorization-mode=RBAC,Webhook', file)).toMatchObject({
    authorizationModes: ['RBAC', 'Webhook'],
    authorizationWebhook: {
      configFile: 'w',
      version: 'v1beta1',
      authorizedTtlMs: 300_000,
      unauthorizedTtlMs: 30_000,
    },
  });
  expect(errors(ETCD, '--authorization-mode=RBAC,Webhook')).toEqual([
    '--authorization-mode=Webhook needs --authorization-webhook-config-file',
  ]);
  expect(errors(ETCD, '--authorization-mode=RBAC', file)).toEqual([
    '--authorization-webhook-config-file needs --authorization-mode=Webhook',
  ]);
});

test('AlwaysDeny enables anonymous requests with a warning', () => {
  const completed = complete(ETCD, '--authorization-mode=AlwaysDeny');
  expect(completed).toMatchObject({ ok: true, options: { authentication: { anonymous: true } } });
  expect(completed.ok && completed.warnings).toEqual([expect.stringContaining('AlwaysDeny is enabled')]);
});

test('the help lists the flags by group', () => {
  const text = helpText(FLAG_ROWS, { program: 'orch-apiserver', summary: 'Serves the API.' });
  const headings = [...text.matchAll(/^(.+) flags:$/gm)].map(([, heading]) => heading);
  expect(headings).toEqual([
    'Generic',
    'Overload',
    'Secure serving',
    'Storage',
    'Watch cache',
    'Authentication',
    'Authorization',
    'Admission',
    'Auditing',
    'Metrics',
    'Connections to other servers',
    'Logs',
    'Global',
  ]);
});

test('gates are set by name, the last value wins, and the help lists them', () => {
  expect(options(ETCD).featureGates).toEqual({
    APIListChunking: true,
    APIPriorityAndFairness: true,
    APIResponseCompression: true,
    DryRun: true,
    EphemeralContainers: false,
    RemainingItemCount: true,
    RemoveSelfLink: true,
    ServerSideApply: true,
    StorageVersionHash: true,
    StreamingProxyRedirects: true,
    ValidateProxyRedirects: true,
    WarningHeaders: true,
    ...Object.fromEntries([...FIELD_GATES, ...SERVER_GATES].map((gate) => [gate, isOnByDefault(gate)])),
  });
  const { gates } = options(
    ETCD,
    '--feature-gates=AllBeta=false,IndexedJob=true,SuspendJob=false',
  ).kindSettings;
  expect([...(gates ?? [])]).toEqual(['IndexedJob', 'StorageObjectInUseProtection', 'VolumeSubpath']);
  expect(options(ETCD, '--feature-gates=ServerSideApply=false').featureGates.ServerSideApply).toBe(false);
  const twice = options(ETCD, '--feature-gates=ServerSideApply=f,ServerSideApply=True');
  expect(twice.featureGates.ServerSideApply).toBe(true);
  const help = helpText(FLAG_ROWS, { program: 'orch-apiserver', summary: '' }).replaceAll(/\s+/g, ' ');
  expect(help).toContain('ServerSideApply=true|false (BETA - default=true)');
});

test('AllAlpha and AllBeta set all gates of their stage that are not set by name', () => {
  const off = options(ETCD, '--feature-gates=AllBeta=false,AllAlpha=true').featureGates;
  expect(off).toEqual({
    APIListChunking: false,
    APIPriorityAndFairness: false,
    APIResponseCompression: false,
    DryRun: true,
    EphemeralContainers: true,
    RemainingItemCount: false,
    RemoveSelfLink: false,
    ServerSideApply: false,
    StorageVersionHash: false,
    StreamingProxyRedirects: true,
    ValidateProxyRedirects: false,
    WarningHeaders: false,
    ...Object.fromEntries(
      [...FIELD_GATES, ...SERVER_GATES].map((gate) => [
        gate,
        GATES.get(gate)?.stage === 'ALPHA' || GATES.get(gate)?.stage === 'GA',
      ]),
    ),
  });
  const named = options(ETCD, '--feature-gates=ServerSideApply=true,AllBeta=false').featureGates;
  expect(named.ServerSideApply).toBe(true);
});

test('gates of GA features may be set to true, but not to false', () => {
  expect(options(ETCD, '--feature-gates=NodeLease=true,WatchBookmark=1').featureGates).toEqual(
    options(ETCD).featureGates,
  );
  expect(errors(ETCD, '--feature-gates=NodeLease=false,WatchBookmark=false')).toEqual([
    '--feature-gates: cannot set feature gate NodeLease to false, feature is locked to true',
    '--feature-gates: cannot set feature gate WatchBookmark to false, feature is locked to true',
  ]);
  const help = helpText(FLAG_ROWS, { program: 'orch-apiserver', summary: '' }).replaceAll(/\s+/g, ' ');
  expect(help).toContain('AllAlpha=true|false (ALPHA - default=false)');
  expect(help).toContain('NodeLease=true (GA - locked to true)');
});

test('unknown gates and invalid values are rejected, all at once', () => {
  const gates = 'ServerSideAply=true,toString=true,ServerSideApply,ServerSideApply=flase,ServerSideApply=';
  expect(errors(ETCD, `--feature-gates=${gates}`)).toEqual([
    '--feature-gates: unknown gate ServerSideAply; did you mean ServerSideApply?',
    '--feature-gates: unknown gate toString',
    '--feature-gates: ServerSideApply needs a value: ServerSideApply=true or ServerSideApply=false',
    '--feature-gates: the value of ServerSideApply must be true or false, not "flase"; did you mean false?',
    '--feature-gates: the value of ServerSideApply must be true or false, not ""',
  ]);
});

test('the ranges of Services are parsed, and invalid ones are rejected with the flag', () => {
  const { services } = options(
    ETCD,
    '--service-cluster-ip-range=10.96.0.0/12',
    '--service-node-port-range=31000+9',
  );
  expect([services.addresses.text, services.addresses.at(0)]).toEqual(['10.96.0.0/12', '10.96.0.1']);
  expect(services.nodePorts).toMatchObject({ text: '31000-31009', size: 10 });
  expect(options(ETCD).services).toMatchObject({
    addresses: { text: '10.0.0.0/24' },
    nodePorts: { text: '30000-32767' },
  });
  const dual = options(ETCD, '--service-cluster-ip-range=fd00::/108,10.0.0.0/16').services;
  expect([dual.addresses.family, dual.secondaryAddresses?.text]).toEqual(['IPv6', '10.0.0.0/16']);
  expect(
    errors(ETCD, '--service-cluster-ip-range=10.0.0.0/16,fd00::/108', '--feature-gates=IPv6DualStack=false'),
  ).toEqual(['--service-cluster-ip-range: a second range needs the feature gate IPv6DualStack']);
  expect(errors(ETCD, '--service-cluster-ip-range=10.0.0.0/16,10.1.0.0/16')).toEqual([
    '--service-cluster-ip-range: its two entries must be of different IP families',
  ]);
  expect(errors(ETCD, '--service-cluster-ip-range=10.0.0.0/16,fd00::/108,fd01::/108')).toEqual([
    '--service-cluster-ip-range: it must not have more than two entries',
  ]);
  expect(errors(ETCD, '--service-cluster-ip-range=10.0.0.0/30', '--service-node-port-range=9-1')).toEqual([
    '--service-cluster-ip-range: 10.0.0.0/30 is too small: services need at least 8 addresses',
    '--service-node-port-range must be like 30000-32767, not "9-1"',
  ]);
});

test('a plugin of another API level is accepted with a warning', () => {
  expect(complete(ETCD, '--enable-admission-plugins=PodSecurity')).toMatchObject({
    ok: true,
    warnings: expect.arrayContaining([
      'the admission plugin PodSecurity belongs to another API level and does not run',
    ]) as unknown,
  });
});
