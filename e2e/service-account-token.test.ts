import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { eventually } from '../shared/testing/eventually';
import { ApiClient } from './support/client';
import { findKubectls, runKubectl } from './support/kubectl';
import { suiteHaSet } from './support/suite';
import { explained, makeWorkspace } from './support/workspace';

const ACCOUNTS = '/api/v1/namespaces/default/serviceaccounts';

describe('two replicas with one key', () => {
  const clients: ApiClient[] = [];
  afterAll(() => {
    for (const client of clients) client.close();
  });
  const set = suiteHaSet({
    replicas: 2,
    etcd: 1,
    balancer: false,
    controllerManagers: 0,
    dialect: 'kubernetes',
  });
  beforeAll(
    explained(async () => {
      // The rights of the accounts do not matter here.
      const apiGroup = 'rbac.authorization.k8s.io';
      const roleRef = { apiGroup, kind: 'ClusterRole', name: 'cluster-admin' };
      const subjects = [{ apiGroup, kind: 'Group', name: 'system:serviceaccounts:default' }];
      const bindings = '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings';
      const { status } = await set
        .of(0)
        .create(bindings, { metadata: { name: 'accounts' }, roleRef, subjects });
      expect(status).toBe(201);
    }),
  );

  async function newAccount(name: string): Promise<string> {
    const { status, body } = await set.of(0).create(ACCOUNTS, { metadata: { name } });
    expect(status).toBe(201);
    return body.metadata?.uid ?? '';
  }

  async function newToken(name: string, spec: object = {}): Promise<string> {
    const { status, body } = await set.of(0).create(`${ACCOUNTS}/${name}/token`, { spec });
    expect(status).toBe(201);
    return (body.status as { readonly token: string }).token;
  }

  /** A client of one replica with the token. */
  function bearer(token: string, replica: number): ApiClient {
    const { server, caFile } = set.replicas[replica] ?? {};
    if (server === undefined || caFile === undefined) throw new Error('no such replica');
    const client = new ApiClient({ server, caFile, token });
    clients.push(client);
    return client;
  }

  test(
    'a token of one replica is valid on the other at once, until its account is deleted',
    explained(async () => {
      for (let round = 0; round < 10; round++) {
        const name = `robot-${String(round)}`;
        await newAccount(name);
        const other = bearer(await newToken(name), 1);
        expect((await other.get('/api/v1/namespaces/default')).status).toBe(200);
        expect((await set.of(0).delete(`${ACCOUNTS}/${name}`)).status).toBe(200);
        await eventually(
          'the token of a deleted account is refused',
          async () => (await other.get('/api/v1/namespaces/default')).status === 401,
        );
      }
    }),
  );

  test(
    'a TokenReview on the other replica returns its user and audiences',
    explained(async () => {
      const uid = await newAccount('reviewed');
      const token = await newToken('reviewed', { audiences: ['web', 'vault'] });
      const reviews = '/apis/authentication.k8s.io/v1/tokenreviews';
      const review = async (audiences: readonly string[]): Promise<unknown> =>
        (await set.of(1).create(reviews, { spec: { token, audiences } })).body.status;
      expect(await review(['vault', 'x'])).toEqual({
        authenticated: true,
        user: {
          username: 'system:serviceaccount:default:reviewed',
          uid,
          groups: ['system:serviceaccounts', 'system:serviceaccounts:default', 'system:authenticated'],
        },
        audiences: ['vault'],
      });
      expect(await review(['x'])).toMatchObject({ error: expect.stringContaining('audiences') as string });
      expect((await bearer(token, 1).get('/version')).status).toBe(401);
    }),
  );

  test(
    'the other replica publishes the key that verifies the token',
    explained(async () => {
      await newAccount('published');
      const [header = ''] = (await newToken('published')).split('.');
      const { kid } = JSON.parse(Buffer.from(header, 'base64url').toString('utf8')) as { kid: string };
      const { paths } = (await set.of(1).get('/')).body as { readonly paths?: readonly string[] };
      expect(paths).toEqual(expect.arrayContaining(['/.well-known/openid-configuration', '/openid/v1/jwks']));
      const configuration = await set.of(1).get('/.well-known/openid-configuration');
      expect(configuration.body['issuer']).toBe('https://kubernetes.default.svc');
      const { pathname, origin } = new URL(String(configuration.body['jwks_uri']));
      expect(origin).toBe(set.replicas[1]?.server);
      const accept = 'application/jwk-set+json';
      const keys = await set.of(1).request({ path: pathname, headers: { accept } });
      expect(keys.headers['content-type']).toBe('application/jwk-set+json');
      expect(keys.body['keys']).toMatchObject([{ kid, use: 'sig' }]);
    }),
  );

  for (const { title, program } of findKubectls().filter(({ title: each }) => each !== 'kubectl 1.20')) {
    const testIfFound = program === undefined ? test.skip : test;
    testIfFound(
      `${title} creates a token and works with it`,
      explained(async () => {
        const workspace = makeWorkspace('kubectl-token');
        try {
          const home = path.join(workspace.dir, 'home');
          mkdirSync(home);
          const found = program ?? '';
          const kubectl = async (...args: string[]): ReturnType<typeof runKubectl> =>
            runKubectl(found, args, { kubeconfig: set.kubeconfig, home });
          await newAccount('typed');
          const created = await kubectl('create', 'token', 'typed', '--duration=20m', '--audience=api');
          expect(created).toMatchObject({
            exitCode: 0,
            stdout: expect.stringMatching(/^ey.*\..*\..*$/u) as string,
          });
          const { stdout } = await kubectl('create', 'token', 'typed');
          const named = await kubectl(
            '--token',
            stdout.trim(),
            'get',
            'serviceaccount',
            'typed',
            '-o',
            'name',
          );
          expect(named).toMatchObject({ exitCode: 0, stdout: 'serviceaccount/typed\n' });
        } finally {
          workspace.remove();
        }
      }),
    );
  }
});
