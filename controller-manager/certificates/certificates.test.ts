import { X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type {
  CertificateSigningRequest,
  CertificateSigningRequestCondition as RequestCondition,
} from '../../shared/api/types/certificates-v1';
import type { KeyedCertificate } from '../../shared/certs/certificate';
import { makeCa } from '../../shared/certs/certificate';
import type { NewRequestOptions } from '../../shared/certs/testing/new-certificate-request';
import { newCertificateRequest } from '../../shared/certs/testing/new-certificate-request';
import { silentLog } from '../../shared/log/log';
import { GROUP, NODE_USER, SIGNER, fromNeutral } from '../../shared/names';
import type { BenchUser, RoleBench } from '../testing/role-bench';
import { createRoleBench } from '../testing/role-bench';
import { conditionsOf, hasCondition, isIssued } from './certificate-request';
import { runRequestApproval } from './request-approval';
import { endOf, runRequestCleaning } from './request-cleaning';
import { runRequestSigning } from './request-signing';
import type { Signing } from '../runtime/controller-options';
import type { SigningFlags } from './signing';
import { openSigning } from './signing';

const REQUESTS = `/apis/${GROUP.certificates}/v1/certificatesigningrequests`;
const REVIEWS = `POST /apis/${GROUP.authorization}/v1/subjectaccessreviews`;
const ACCOUNT = 'certificate-controller';
const CLIENT = ['digital signature', 'key encipherment', 'client auth'];
const SERVING = ['digital signature', 'key encipherment', 'server auth'];
const NODE: NewRequestOptions = { commonName: 'system:node:a', organizations: ['system:nodes'] };
const NODE_A: BenchUser = { name: 'system:node:a', groups: [NODE_USER.group] };
const JOINING: BenchUser = { name: 'joining' };
const HOUR_MS = 3_600_000;

let bench: RoleBench;
let heard: (message: string) => void;
const log = {
  ...silentLog,
  debug: (_fields: object, message: string): void => heard(message),
  child: () => log,
};

beforeEach(async () => {
  heard = () => undefined;
  bench = await createRoleBench(log);
  await allow('requesters', { resources: ['certificatesigningrequests'], verbs: ['create'] });
  await bind('requesters', { kind: 'Group', name: 'system:authenticated' });
});
afterEach(async () => bench.close());

async function allow(name: string, rule: object): Promise<void> {
  const rules = [{ apiGroups: [GROUP.certificates], ...rule }];
  await bench.call('POST', `/apis/${GROUP.rbac}/v1/clusterroles`, { metadata: { name }, rules });
}

async function bind(role: string, subject: { readonly kind: string; readonly name: string }): Promise<void> {
  await bench.call('POST', `/apis/${GROUP.rbac}/v1/clusterrolebindings`, {
    metadata: { generateName: 'test-' },
    roleRef: { apiGroup: GROUP.rbac, kind: 'ClusterRole', name: role },
    subjects: [{ apiGroup: GROUP.rbac, ...subject }],
  });
}

const leave = (subresource: string): string =>
  fromNeutral(`system:certificates.orch:certificatesigningrequests:${subresource}`);

interface Asked {
  readonly signerName?: string;
  readonly usages?: readonly string[];
  readonly as?: BenchUser;
  readonly version?: string;
}

/** Creates a request, by default a node's request for a client certificate. */
async function ask(name: string, request: NewRequestOptions, asked: Asked = {}): Promise<string> {
  const { signerName = SIGNER.apiServerClientNodeAgent, usages = CLIENT, as, version = 'v1' } = asked;
  const { pem } = newCertificateRequest(request);
  const spec = { request: Buffer.from(pem).toString('base64'), signerName, usages };
  await bench.call('POST', REQUESTS.replace('/v1/', `/${version}/`), { metadata: { name }, spec }, as);
  return name;
}

const read = async (name: string): Promise<CertificateSigningRequest> =>
  (await bench.call('GET', `${REQUESTS}/${name}`)) as CertificateSigningRequest;

/** Adds conditions in a version that allows approval and denial together. */
async function condition(name: string, subresource: string, ...types: readonly string[]): Promise<void> {
  const url = `${REQUESTS.replace('/v1/', '/v1beta1/')}/${name}`;
  const request = (await bench.call('GET', url)) as CertificateSigningRequest;
  const added = types.map((type) => ({ type, status: 'True', reason: 'Test' }));
  const status = { ...request.status, conditions: [...conditionsOf(request), ...added] };
  await bench.call('PUT', `${url}/${subresource}`, { ...request, status });
}

const decide = async (name: string, type: 'Approved' | 'Denied'): Promise<void> =>
  condition(name, 'approval', type);

const when = async (name: string, holds: (request: CertificateSigningRequest) => boolean) =>
  bench.when<CertificateSigningRequest>(REQUESTS, name, (now) => now !== undefined && holds(now));

async function conditionOf(name: string, type: string): Promise<RequestCondition | undefined> {
  const request = await when(name, (now) => hasCondition(now, type));
  return request && conditionsOf(request).find((each) => each.type === type);
}

describe('approval', () => {
  test('a node client request whose author may create node client certificates is approved', async () => {
    await bind(leave('nodeclient'), { kind: 'User', name: JOINING.name });
    bench.run(runRequestApproval, ACCOUNT);
    await ask('joins', NODE, { as: JOINING });
    expect(await conditionOf('joins', 'Approved')).toMatchObject({
      status: 'True',
      reason: 'AutoApproved',
      message: 'Auto approving kubelet client certificate after SubjectAccessReview.',
      lastUpdateTime: expect.any(String),
    });
  });

  test('a node that may renew its own certificate gets that one, and none of another node', async () => {
    await bind(leave('selfnodeclient'), { kind: 'Group', name: NODE_USER.group });
    const refused = new Promise<string>((resolve) => {
      heard = resolve;
    });
    bench.run(runRequestApproval, ACCOUNT);
    await ask('other', { ...NODE, commonName: 'system:node:b' }, { as: NODE_A });
    expect(await refused).toMatch(/requester is not authorized/);
    await ask('own', NODE, { as: NODE_A });
    expect((await conditionOf('own', 'Approved'))?.message).toBe(
      'Auto approving self kubelet client certificate after SubjectAccessReview.',
    );
    expect((await read('other')).status).toEqual({});
  });

  test('a request is approved once its author gets the permission', async () => {
    const refused = new Promise<string>((resolve) => {
      heard = resolve;
    });
    await ask('early', NODE, { as: JOINING });
    bench.run(runRequestApproval, ACCOUNT);
    await refused;
    await bind(leave('nodeclient'), { kind: 'User', name: JOINING.name });
    expect((await conditionOf('early', 'Approved'))?.reason).toBe('AutoApproved');
  });

  test('requests of other kinds, for other signers or already decided are ignored', async () => {
    await bind(leave('nodeclient'), { kind: 'User', name: JOINING.name });
    await ask('organized', { ...NODE, organizations: ['system:nodes', 'x'] }, { as: JOINING });
    await ask('named', { ...NODE, dns: ['a'] }, { as: JOINING });
    await ask('serving', { ...NODE, dns: ['a'] }, { as: JOINING, signerName: SIGNER.nodeAgentServing });
    await ask('client', NODE, { as: JOINING, signerName: SIGNER.apiServerClient });
    await ask('denied', NODE, { as: JOINING });
    await decide('denied', 'Denied');
    await ask('last', NODE, { as: JOINING });
    bench.run(runRequestApproval, ACCOUNT);
    expect(await conditionOf('last', 'Approved')).toBeDefined();
    expect(bench.writes).toEqual([REVIEWS, `PUT ${REQUESTS}/last/approval`]);
  });
});

const NO_FILES: SigningFlags = {
  clusterSigningCertFile: '',
  clusterSigningKeyFile: '',
  clusterSigningDurationMs: 24 * HOUR_MS,
  experimentalClusterSigningDurationMs: 0,
  clusterSigningKubeApiserverClientCertFile: '',
  clusterSigningKubeApiserverClientKeyFile: '',
  clusterSigningKubeletClientCertFile: '',
  clusterSigningKubeletClientKeyFile: '',
  clusterSigningKubeletServingCertFile: '',
  clusterSigningKubeletServingKeyFile: '',
  clusterSigningLegacyUnknownCertFile: '',
  clusterSigningLegacyUnknownKeyFile: '',
};

describe('signing', () => {
  const ca = makeCa({ commonName: 'signers', validDays: 10 });
  let dir = '';
  let signing: Signing | undefined;

  beforeEach(() => {
    dir = mkdtempSync(path.join(tmpdir(), 'signing-'));
    write(ca);
    signing = openSigning(
      {
        ...NO_FILES,
        clusterSigningCertFile: path.join(dir, 'ca.crt'),
        clusterSigningKeyFile: path.join(dir, 'ca.key'),
      },
      silentLog,
    );
  });
  afterEach(() => {
    rmSync(dir, { recursive: true });
  });

  function write({ certificatePem, privateKeyPem }: KeyedCertificate): void {
    writeFileSync(path.join(dir, 'ca.crt'), certificatePem);
    writeFileSync(path.join(dir, 'ca.key'), privateKeyPem);
  }

  function start(): void {
    bench.run(runRequestSigning, ACCOUNT, signing === undefined ? {} : { signing });
  }

  async function certificateOf(name: string): Promise<X509Certificate> {
    const request = await when(name, isIssued);
    const text = Buffer.from(request?.status?.certificate ?? '', 'base64').toString();
    expect(text).toMatch(/^-----BEGIN CERTIFICATE-----\n[^-]*-----END CERTIFICATE-----\n$/);
    return new X509Certificate(text);
  }

  const signedBy = ({ certificatePem }: KeyedCertificate, certificate: X509Certificate): boolean =>
    certificate.verify(new X509Certificate(certificatePem).publicKey);

  test.each([
    [SIGNER.apiServerClient, { commonName: 'jane', organizations: ['dev'] }, ['client auth'], 'v1'],
    [SIGNER.apiServerClientNodeAgent, NODE, CLIENT, 'v1'],
    [SIGNER.nodeAgentServing, { ...NODE, dns: ['a.example.com'] }, SERVING, 'v1'],
    [SIGNER.legacyUnknown, { commonName: 'old', uri: ['x:y'] }, ['any'], 'v1beta1'],
  ])('an approved request for %s is signed', async (signerName, request, usages, version) => {
    start();
    await ask('x', request, { signerName, usages, version });
    await decide('x', 'Approved');
    const certificate = await certificateOf('x');
    expect(signedBy(ca, certificate)).toBe(true);
    expect(certificate.subject).toContain(`CN=${request.commonName ?? ''}`);
    expect(Date.parse(certificate.validTo) - Date.parse(certificate.validFrom)).toBe(24 * HOUR_MS);
    expect(conditionsOf(await read('x')).map(({ type }) => type)).toEqual(['Approved']);
  });

  test('a request that breaks the rules of its signer gets the condition Failed with a message and is not retried', async () => {
    start();
    await ask('bad', { commonName: 'jane' });
    await decide('bad', 'Approved');
    expect(await conditionOf('bad', 'Failed')).toMatchObject({
      status: 'True',
      reason: 'SignerValidationFailure',
      message: 'subject organization is not system:nodes',
    });
    await ask('good', NODE);
    await decide('good', 'Approved');
    await certificateOf('good');
    expect(isIssued(await read('bad'))).toBe(false);
    expect(bench.writes).toEqual([`PUT ${REQUESTS}/bad/status`, `PUT ${REQUESTS}/good/status`]);
  });

  test('a legacy-unknown request for system:masters fails even if it is approved', async () => {
    start();
    const superuser = { commonName: 'x', organizations: ['system:masters'] };
    await ask('x', superuser, {
      signerName: SIGNER.legacyUnknown,
      usages: ['client auth'],
      version: 'v1beta1',
    });
    await decide('x', 'Approved');
    expect(await conditionOf('x', 'Failed')).toMatchObject({ reason: 'SignerValidationFailure' });
    expect(isIssued(await read('x'))).toBe(false);
  });

  test('pending, denied, failed, signed and foreign requests are ignored', async () => {
    await ask('pending', NODE);
    await ask('failed', NODE);
    await condition('failed', 'status', 'Failed');
    await decide('failed', 'Approved');
    await ask('denied', NODE);
    await decide('denied', 'Denied');
    await ask('other', NODE, { signerName: 'example.com/mine' });
    await decide('other', 'Approved');
    start();
    await ask('good', NODE);
    await decide('good', 'Approved');
    await certificateOf('good');
    await ask('last', NODE);
    await decide('last', 'Approved');
    await certificateOf('last');
    expect(bench.writes).toEqual([`PUT ${REQUESTS}/good/status`, `PUT ${REQUESTS}/last/status`]);
  });

  test('requests that were approved before the start are signed', async () => {
    await ask('early', NODE);
    await decide('early', 'Approved');
    start();
    expect(signedBy(ca, await certificateOf('early'))).toBe(true);
  });

  test('many requests of one author, and of other accounts of its namespace, do not delay that of another', async () => {
    const asking = { signerName: SIGNER.apiServerClient, usages: ['client auth'] };
    for (let at = 0; at < 30; at += 1) {
      const name = `flood-${String(at)}`;
      const as = { name: `system:serviceaccount:tenant:a-${String(at)}`, groups: ['system:authenticated'] };
      await ask(name, { commonName: 'jane' }, { ...asking, as });
      await decide(name, 'Approved');
    }
    await ask('other', { commonName: 'ann' }, { ...asking, as: { name: 'ann' } });
    await decide('other', 'Approved');
    const before = bench.writes.length;
    start();
    await certificateOf('other');
    expect(bench.writes.length - before).toBeLessThan(15);
  });

  test('a replaced authority signs from then on, and a half-replaced pair changes nothing', async () => {
    start();
    const next = makeCa({ commonName: 'next', validDays: 10 });
    write({ ...next, privateKeyPem: ca.privateKeyPem });
    await ask('half', NODE);
    await decide('half', 'Approved');
    expect(signedBy(ca, await certificateOf('half'))).toBe(true);
    write(next);
    await ask('whole', NODE);
    await decide('whole', 'Approved');
    expect(signedBy(next, await certificateOf('whole'))).toBe(true);
  });

  test('without an authority nothing is signed, and the other controllers run', async () => {
    await ask('x', NODE);
    await decide('x', 'Approved');
    signing = undefined;
    const logged = new Promise<string>((resolve) => {
      heard = resolve;
    });
    bench.run(async (context, signal) => {
      const info = (_fields: object, message: string): void => heard(message);
      return runRequestSigning({ ...context, log: { ...log, info } }, signal);
    }, ACCOUNT);
    expect(await logged).toBe('certificate signing is disabled: no CA certificate was given');
    expect(bench.writes).toEqual([]);
  });
});

describe('cleaning', () => {
  /** Advances the fake clock. */
  const runLater = (ms: number): void =>
    bench.run(
      async (context, signal) => runRequestCleaning(context, signal, { now: () => Date.now() + ms }),
      ACCOUNT,
    );
  const gone = async (name: string): Promise<unknown> =>
    bench.when(REQUESTS, name, (now) => now === undefined);

  test('requests are deleted an hour after their last change, in every state', async () => {
    await ask('pending', NODE);
    await ask('approved', NODE);
    await decide('approved', 'Approved');
    await ask('denied', NODE);
    await decide('denied', 'Denied');
    runLater(HOUR_MS + 1_000);
    await Promise.all(['pending', 'approved', 'denied'].map(gone));
    expect(bench.writes.toSorted()).toEqual(
      ['approved', 'denied', 'pending'].map((name) => `DELETE ${REQUESTS}/${name}`),
    );
  });

  test('a request is deleted exactly when the hour is over', async () => {
    await ask('x', NODE);
    runLater(HOUR_MS - 1_500);
    await gone('x');
    expect(bench.writes).toEqual([`DELETE ${REQUESTS}/x`]);
  });

  const at = (time: string | null): RequestCondition => ({
    type: 'Approved',
    status: 'True',
    lastUpdateTime: time,
    lastTransitionTime: null,
  });
  const aged = (
    conditions: readonly RequestCondition[],
    certificate?: string,
  ): CertificateSigningRequest => ({
    metadata: { creationTimestamp: '2030-01-01T00:00:00Z' },
    spec: { request: '', signerName: '' },
    status: { conditions, ...(certificate === undefined ? {} : { certificate }) },
  });
  const early = { now: () => Date.UTC(2030, 0, 1) - 24 * HOUR_MS + 60_000 };
  const short = makeCa({ commonName: 'x', validDays: 1, clock: early }).certificatePem;

  test.each([
    ['pending', aged([]), '2030-01-01T01:00:00Z'],
    ['decided', aged([at('2030-01-01T05:00:00Z')]), '2030-01-01T06:00:00Z'],
    ['decided by who says no time', aged([at(null)]), '2030-01-01T01:00:00Z'],
    [
      'decided, then failed',
      aged([at('2030-01-01T02:00:00Z'), at('2030-01-01T03:00:00Z')]),
      '2030-01-01T04:00:00Z',
    ],
    ['with a certificate that ends sooner', aged([], encoded(short)), '2030-01-01T00:01:00Z'],
    ['with a certificate that is unreadable', aged([], encoded('x')), '2030-01-01T01:00:00Z'],
  ])('a request that is %s', (_what, request, end) => {
    expect(new Date(endOf(request)).toISOString()).toBe(end.replace('Z', '.000Z'));
  });
});

function encoded(text: string): string {
  return Buffer.from(text).toString('base64');
}
