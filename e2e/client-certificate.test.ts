import { mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { newCertificateRequest } from '../shared/certs/testing/new-certificate-request';
import type { Client } from '../shared/client/client';
import { createClient } from '../shared/client/client';
import { eventually } from '../shared/testing/eventually';
import { findKubectls, runKubectl } from './support/kubectl';
import { suiteHaSet } from './support/suite';
import { explained, makeWorkspace } from './support/workspace';

const REQUESTS = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
const BINDINGS = '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings';

describe('a certificate that the set has signed', () => {
  const clients: Client[] = [];
  afterAll(() => {
    for (const client of clients) client.close();
  });
  const set = suiteHaSet({
    replicas: 1,
    etcd: 1,
    balancer: false,
    controllerManagers: 1,
    dialect: 'kubernetes',
  });

  interface Asked {
    /** The client that sends the request; by default the superuser. */
    readonly author?: string;
    readonly organizations: readonly string[];
    readonly signerName: string;
    readonly usages: readonly string[];
  }
  const USER: Asked = {
    organizations: ['dev'],
    signerName: 'kubernetes.io/kube-apiserver-client',
    usages: ['client auth'],
  };
  const NODE: Asked = {
    organizations: ['system:nodes'],
    signerName: 'kubernetes.io/kube-apiserver-client-kubelet',
    usages: ['key encipherment', 'digital signature', 'client auth'],
  };

  /** Creates a certificate signing request for a user; returns its key. */
  async function ask(name: string, user: string, asked: Asked): Promise<string> {
    const { author, organizations, signerName, usages } = asked;
    const { pem, privateKey } = newCertificateRequest({ commonName: user, organizations });
    const request = Buffer.from(pem).toString('base64');
    const { status } = await set.client.request({
      method: 'POST',
      path: REQUESTS,
      body: { metadata: { name }, spec: { request, signerName, usages } },
      ...(author === undefined ? {} : { headers: { 'impersonate-user': author } }),
    });
    expect(status).toBe(201);
    return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  }

  async function certificateOf(name: string): Promise<string> {
    let encoded = '';
    await eventually(`the request ${name} is signed`, async () => {
      const { body } = await set.client.get(`${REQUESTS}/${name}`);
      encoded = (body.status as { readonly certificate?: string }).certificate ?? '';
      return encoded !== '';
    });
    return Buffer.from(encoded, 'base64').toString();
  }

  function clientWith(cert: string, key: string): Client {
    const caFile = set.replicas[0]?.caFile ?? '';
    const client = createClient({ server: set.server, ca: readFileSync(caFile), cert, key });
    clients.push(client);
    return client;
  }

  const bind = async (name: string, role: string, subject: object): Promise<void> => {
    const apiGroup = 'rbac.authorization.k8s.io';
    const { status } = await set.client.create(BINDINGS, {
      metadata: { name },
      roleRef: { apiGroup, kind: 'ClusterRole', name: role },
      subjects: [{ apiGroup, ...subject }],
    });
    expect(status).toBe(201);
  };

  async function approve(name: string): Promise<void> {
    const { body } = await set.client.get(`${REQUESTS}/${name}`);
    const conditions = [{ type: 'Approved', status: 'True', reason: 'Test', message: 'by a test' }];
    const { status } = await set.client.update(`${REQUESTS}/${name}/approval`, {
      ...body,
      status: { conditions },
    });
    expect(status).toBe(200);
  }

  test(
    'authenticates its owner as the user and groups that it names',
    explained(async () => {
      const key = await ask('jane', 'jane', USER);
      await approve('jane');
      const jane = clientWith(await certificateOf('jane'), key);
      const pods = { group: '', version: 'v1', resource: 'pods' } as const;
      await expect(jane.list(pods, { namespace: 'default' })).rejects.toThrow(
        'pods is forbidden: User "jane" cannot list resource "pods" in API group "" in the namespace "default"',
      );
      await bind('developers', 'view', { kind: 'Group', name: 'dev' });
      // The role aggregates others, which a controller must have done once.
      await eventually('the role allows her to list pods', async () =>
        jane.list(pods, { namespace: 'default' }).then(
          ({ items }) => items.length === 0,
          () => false,
        ),
      );
    }),
  );

  test(
    'is issued to a node without manual approval if the requester may request node certificates',
    explained(async () => {
      const role = 'system:certificates.k8s.io:certificatesigningrequests:nodeclient';
      const rules = [
        {
          apiGroups: ['certificates.k8s.io'],
          resources: ['certificatesigningrequests'],
          verbs: ['create', 'get'],
        },
      ];
      const roles = '/apis/rbac.authorization.k8s.io/v1/clusterroles';
      expect((await set.client.create(roles, { metadata: { name: 'asking' }, rules })).status).toBe(201);
      await bind('asking', 'asking', { kind: 'User', name: 'joining' });
      await bind('joining', role, { kind: 'User', name: 'joining' });
      const key = await ask('node', 'system:node:a', { ...NODE, author: 'joining' });
      const node = clientWith(await certificateOf('node'), key);
      const answer = await node.request({ method: 'GET', path: '/api/v1/nodes' });
      expect(answer.body.toString()).toContain('User \\"system:node:a\\" cannot list resource \\"nodes\\"');
    }),
  );

  for (const { title, program } of findKubectls()) {
    const testIfFound = program === undefined ? test.skip : test;
    testIfFound(
      `${title} approves a request and shows it as issued`,
      explained(async () => {
        const workspace = makeWorkspace('kubectl-certificate');
        try {
          const home = path.join(workspace.dir, 'home');
          mkdirSync(home);
          const kubectl = async (...args: string[]): ReturnType<typeof runKubectl> =>
            runKubectl(program ?? '', args, { kubeconfig: set.kubeconfig, home });
          const name = title.replaceAll(/[^a-z0-9]+/gu, '-');
          await ask(name, 'joe', USER);
          const approved = await kubectl('certificate', 'approve', name);
          expect(approved.stdout).toBe(`certificatesigningrequest.certificates.k8s.io/${name} approved\n`);
          await certificateOf(name);
          expect((await kubectl('get', 'csr', name, '--no-headers')).stdout).toMatch(/ Approved,Issued\n$/u);
        } finally {
          workspace.remove();
        }
      }),
    );
  }
});
