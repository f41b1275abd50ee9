import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import path from 'node:path';
import { parse } from 'yaml';
import type { EtcdCluster } from '../deploy/local/etcd-cluster';
import { startEtcdCluster } from '../deploy/local/etcd-cluster';
import { freePorts } from '../deploy/local/ports';
import { programPath } from '../deploy/local/repository';
import type { StartedProcess } from '../deploy/local/started-process';
import { startProcess } from '../deploy/local/started-process';
import { newCertificateRequest } from '../shared/certs/testing/new-certificate-request';
import { defined } from '../shared/defined';
import { eventually } from '../shared/testing/eventually';
import { runAdmin } from './support/admin';
import { CHART, HELMS, rendered } from './support/helm';
import type { KubeadmFiles } from './support/kubeadm-files';
import { writeKubeadmFiles } from './support/kubeadm-files';
import { podTemplateOf } from './support/pods';
import { explained, makeWorkspace, remember } from './support/workspace';

/**
 * Runs the static pods of kubeadm v1.21 with our programs in place of the images. Every flag is unchanged, except for folders, and for ports
 * that are free here.
 */

interface Manifest {
  readonly spec: {
    readonly containers: readonly {
      readonly command: readonly string[];
      readonly livenessProbe: { readonly httpGet: { readonly path: string } };
    }[];
  };
}

const GRACE_MS = 5_000;
const [, HELM] = HELMS;
const MANIFESTS = path.join(__dirname, 'support', 'kubeadm-v1.21');

const workspace = makeWorkspace('kubeadm');
const programs: StartedProcess[] = [];
let etcd: EtcdCluster | undefined;
let files: KubeadmFiles;
let server: string;
let manager: string;

/** The programs of the two images; the dialect is part of an image. */
async function run(
  name: 'apiserver' | 'controller-manager',
  changed: Readonly<Record<string, string>>,
): Promise<void> {
  const manifest = manifestOf(`kube-${name}`);
  const [, ...flags] = manifest.spec.containers[0]?.command ?? [];
  expect(flags.length).toBeGreaterThan(15);
  const text = flags.map((flag) => flag.replaceAll('/etc/kubernetes', files.dir));
  const args = text.map((flag) => {
    const [word = ''] = flag.split('=');
    const other = changed[word];
    return other === undefined ? flag : `${word}=${other}`;
  });
  const absent = Object.entries(changed).filter(([word]) => !args.some((arg) => arg.startsWith(`${word}=`)));
  programs.push(
    remember(
      await startProcess({
        name,
        command: process.execPath,
        args: [programPath(name), ...args, ...absent.map(([word, value]) => `${word}=${value}`)],
        env: { ORCH_DIALECT: 'kubernetes' },
      }),
    ),
  );
}

function manifestOf(name: string): Manifest {
  return parse(readFileSync(path.join(MANIFESTS, `${name}.yaml`), 'utf8')) as Manifest;
}

/** The credentials of a request; by default none. */
interface Credentials {
  readonly cert?: string;
  readonly key?: string;
  readonly token?: string;
}

function certified(commonName: string, organizations: readonly string[] = []): Credentials {
  const { certificatePem: cert, privateKeyPem: key } = files.client(commonName, organizations);
  return { cert, key };
}

interface Asked {
  readonly method?: string;
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sends a request to the controller-manager, whose certificate is self-signed. */
  readonly ofManager?: boolean;
}

interface Reply {
  readonly status: number;
  readonly text: string;
  // eslint-disable-next-line typescript/no-explicit-any
  readonly json: any;
}

async function call(
  { cert, key, token }: Credentials,
  url: string,
  { method = 'GET', body, headers = {}, ofManager = false }: Asked = {},
): Promise<Reply> {
  const outgoing = request(new URL(url, ofManager ? manager : server), {
    agent: false,
    method,
    ca: files.ca,
    ...defined({ cert, key }),
    rejectUnauthorized: !ofManager,
    headers: {
      ...headers,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
  });
  outgoing.end(body === undefined ? '' : JSON.stringify(body));
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
  const text = (await response.toArray()).join('');
  return {
    status: response.statusCode ?? 0,
    text,
    json: text.startsWith('{') ? JSON.parse(text) : undefined,
  };
}

beforeAll(
  explained(async () => {
    const [apiPort = 0, managerPort = 0] = await freePorts(2);
    server = `https://127.0.0.1:${String(apiPort)}`;
    manager = `https://127.0.0.1:${String(managerPort)}`;
    files = writeKubeadmFiles(path.join(workspace.dir, 'kubernetes'), server);
    const pki = path.join(files.dir, 'pki', 'etcd');
    etcd = await startEtcdCluster({
      size: 1,
      tls: {
        caFile: path.join(pki, 'ca.crt'),
        certFile: path.join(pki, 'server.crt'),
        keyFile: path.join(pki, 'server.key'),
        clientCertAuth: true,
      },
    });
    await run('apiserver', {
      '--etcd-servers': etcd.endpoints.join(','),
      '--secure-port': String(apiPort),
    });
    await run('controller-manager', { '--secure-port': String(managerPort) });
  }),
);

afterAll(async () => {
  for (const program of programs.toReversed()) await program.stop(GRACE_MS);
  await etcd?.stop();
  workspace.remove();
});

const answersOk = async (url: string, asked: Asked = {}): Promise<boolean> =>
  call({}, url, asked).then(
    ({ status, text }) => status === 200 && text === 'ok',
    () => false,
  );

const probeOf = (name: string): string =>
  manifestOf(name).spec.containers[0]?.livenessProbe.httpGet.path ?? '';

test(
  'both programs start and pass the probes of their manifests',
  explained(async () => {
    await eventually('the API server is alive', async () => answersOk(probeOf('kube-apiserver')));
    await eventually('the API server is ready', async () => answersOk('/readyz'));
    await eventually('the controller-manager is alive', async () =>
      answersOk(probeOf('kube-controller-manager'), { ofManager: true }),
    );
    expect(programs.map((program) => program.hasExited())).toEqual([false, false]);
  }),
);

test(
  'client certificates authenticate users and groups: administrators have all rights, a node its own',
  explained(async () => {
    const admin = certified('kubernetes-admin', ['system:masters']);
    expect((await call(admin, NODES)).status).toBe(200);
    const node = certified('system:node:n1', ['system:nodes']);
    const made = await call(node, NODES, { method: 'POST', body: { metadata: { name: 'n1' } } });
    expect([made.status, made.json.metadata?.name]).toEqual([201, 'n1']);
    const other = await call(node, NODES, { method: 'POST', body: { metadata: { name: 'n2' } } });
    expect(other.json.message).toContain('node "n1" is not allowed to modify node "n2"');
    expect((await call(node, '/api/v1/namespaces/kube-system/secrets')).status).toBe(403);
  }),
);

test(
  'the front proxy may act for other users',
  explained(async () => {
    const { certificatePem: cert, privateKeyPem: key } = files.frontProxy;
    const headers = { 'x-remote-user': 'jane', 'x-remote-group': 'dev' };
    const { json } = await call({ cert, key }, SECRETS, { headers });
    expect(json.message).toContain('User "jane" cannot list resource "secrets"');
  }),
);

test(
  'the controller-manager leads and issues service account tokens that the API server accepts',
  explained(async () => {
    const admin = certified('kubernetes-admin', ['system:masters']);
    const lease = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-controller-manager';
    await eventually('the Lease has a holder', async () => {
      const { json } = await call(admin, lease);
      return (json.spec?.holderIdentity ?? '') !== '';
    });
    let token = '';
    await eventually('the default account has a token', async () => {
      const { json } = await call(admin, SECRETS);
      const found = (json.items as SecretItem[]).find(
        ({ type, data }) => type === 'kubernetes.io/service-account-token' && data?.['token'] !== undefined,
      );
      token = decoded(found?.data?.['token']);
      return token !== '' && decoded(found?.data?.['ca.crt']) === files.ca;
    });
    const { json } = await call({ token }, '/api/v1/namespaces/default/pods');
    expect(json.message).toContain(
      'User "system:serviceaccount:default:default" cannot list resource "pods"',
    );
  }),
);

(HELM.program === undefined ? test.skip : test)(
  'both programs have the flags that the chart sets with nodes.enabled',
  explained(async () => {
    const objects = await rendered(HELM, ['--values', path.join(CHART, 'ci', 'nodes-values.yaml')]);
    const flagsOf = (name: string): readonly string[] =>
      manifestOf(`kube-${name}`).spec.containers[0]?.command ?? [];
    const setFor = (kind: string, name: string): readonly string[] => {
      const found = objects.find((each) => each.kind === kind && each.metadata?.name === `demo-orch-${name}`);
      return podTemplateOf(found ?? {})?.spec.containers[0]?.args ?? [];
    };
    const joining =
      /^--(?:authorization-mode|enable-bootstrap-token-auth|enable-admission-plugins|controllers)=/u;
    for (const name of ['apiserver', 'controller-manager']) {
      const wanted = setFor('Deployment', name).filter((flag) => joining.test(flag));
      expect(wanted.length).toBeGreaterThan(0);
      expect(flagsOf(name)).toEqual(expect.arrayContaining([...wanted]));
    }
    expect(setFor('Job', 'cluster-info')).toEqual(expect.arrayContaining(['--allow-join']));
  }),
);

test(
  'a node joins by the recipe of the chart: with a bootstrap token it gets a certificate, by which it registers itself only',
  explained(async () => {
    const admin = certified('kubernetes-admin', ['system:masters']);
    // The Job of the chart.
    const published = await runAdmin(
      'cluster-info',
      'publish',
      `--kubeconfig=${path.join(files.dir, 'admin.conf')}`,
      `--server=${server}`,
      '--allow-join',
    );
    expect(published).toMatchObject({ code: 0, stdout: 'published kube-public/cluster-info\n' });
    const token = await createToken(admin, 'abcdef', 'system:bootstrappers:kubeadm:default-node-token');
    const stranger = await createToken(admin, 'ghijkl');

    const info = '/api/v1/namespaces/kube-public/configmaps/cluster-info';
    await eventually('the cluster information is signed by the token', async () => {
      const { data } = (await call({}, info)).json;
      return data?.['jws-kubeconfig-abcdef'] !== undefined && String(data.kubeconfig).includes(server);
    });

    const url = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
    const { pem, privateKey } = newCertificateRequest({
      commonName: 'system:node:n3',
      organizations: ['system:nodes'],
    });
    const spec = {
      request: Buffer.from(pem).toString('base64'),
      signerName: 'kubernetes.io/kube-apiserver-client-kubelet',
      usages: ['key encipherment', 'digital signature', 'client auth'],
    };
    const body = { metadata: { name: 'node-csr-n3' }, spec };
    expect((await call(stranger, url, { method: 'POST', body })).status).toBe(403);
    expect((await call(token, url, { method: 'POST', body })).status).toBe(201);
    let cert = '';
    await eventually('the request is approved and signed', async () => {
      const { json } = await call(token, `${url}/node-csr-n3`);
      cert = decoded(json.status?.certificate);
      return cert !== '';
    });
    const node = { cert, key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString() };
    const register = async (metadata: object): Promise<Reply> =>
      call(node, NODES, { method: 'POST', body: { metadata } });
    expect((await register({ name: 'n4' })).json.message).toContain('is not allowed to modify node "n4"');
    const labels = { 'node-restriction.kubernetes.io/trusted': 'true' };
    expect((await register({ name: 'n3', labels })).status).toBe(403);
    expect((await register({ name: 'n3' })).status).toBe(201);
    const lease = { metadata: { name: 'n3' }, spec: { holderIdentity: 'n3' } };
    const leases = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';
    expect((await call(node, leases, { method: 'POST', body: lease })).status).toBe(201);
  }),
);

/** Creates the Secret of a bootstrap token as helm/orch/README.md describes it. */
async function createToken(admin: Credentials, id: string, groups?: string): Promise<Credentials> {
  const secret = '0123456789abcdef';
  const body = {
    metadata: { name: `bootstrap-token-${id}` },
    type: 'bootstrap.kubernetes.io/token',
    stringData: {
      'token-id': id,
      'token-secret': secret,
      'usage-bootstrap-authentication': 'true',
      'usage-bootstrap-signing': 'true',
      ...(groups === undefined ? {} : { 'auth-extra-groups': groups }),
    },
  };
  const made = await call(admin, '/api/v1/namespaces/kube-system/secrets', { method: 'POST', body });
  expect(made.status).toBe(201);
  return { token: `${id}.${secret}` };
}

const NODES = '/api/v1/nodes';
const SECRETS = '/api/v1/namespaces/default/secrets';

interface SecretItem {
  readonly type?: string;
  readonly data?: Readonly<Record<string, string>>;
}

function decoded(base64 = ''): string {
  return Buffer.from(base64, 'base64').toString();
}
