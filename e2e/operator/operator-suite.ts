import type { Connection, TypedClient } from 'orch/client';
import { hasCode } from 'orch/client';
import { makeServingCertificate } from 'orch/testing';
import { eventually } from '../../shared/testing/eventually';
import { FINALIZER, HOSTS } from './reconcile-site';
import type { Election } from './run-operator';
import { runOperator } from './run-operator';
import { serveWebhook } from './serve-webhook';
import type { Site, SiteSpec } from './site';
import { Sites } from './site';

export type SiteClient = TypedClient & Connection;

/** The way of one operator to the server, with faults on it. */
export interface Link {
  readonly client: SiteClient;
  /** The method, path and code of every answer so far; the code of a watch is that of its beginning. */
  readonly answers: readonly { readonly method: string; readonly path: string; readonly code: number }[];
  /** Answers the next updates of sites with 409. */
  conflict(times: number): void;
  /** Breaks the connections of all open watches. */
  cutWatches(): void;
  /** Ends the open watches of sites with 410. */
  expireWatches(): void;
  /** From now on no request is answered. */
  partition(): void;
  close(): Promise<void>;
}

/** A control plane with the definition of sites, the roles of the operator, and the controllers of Kubernetes. */
export interface Target {
  readonly admin: SiteClient;
  /** How long operators wait for a leader that is gone. Each request of an election has a sixth of it. */
  readonly leaseMs: number;
  /** Connects as the user `site-operator`. */
  link(): Promise<Link>;
  stop(): Promise<void>;
}

/** What the sample operator must do, whatever the control plane. */
export function describeOperator(title: string, startTarget: () => Promise<Target>): void {
  describe(`the sample operator ${title}`, () => {
    let target: Target;
    let admin: SiteClient;
    let webhook: { readonly port: number; close(): Promise<void> };
    const operators: RunningOperator[] = [];
    let namespace = '';

    beforeAll(async () => {
      target = await startTarget();
      ({ admin } = target);
      const { cert, key, ca } = makeServingCertificate();
      webhook = await serveWebhook({ client: admin, cert, key, port: 0 });
      await admin.admissionregistration.v1
        .validatingwebhookconfigurations()
        .create(webhookConfiguration(webhook.port, ca));
      const wrong = site('probe', { host: 'WRONG' });
      await eventually('the webhook is in force', async () =>
        admin
          .of(Sites, 'default')
          .create(wrong, { dryRun: true })
          .then(() => false, isDenied),
      );
    });
    afterAll(async () => {
      await webhook?.close();
      await target?.stop();
    });
    beforeEach(async () => {
      const made = await admin.core.v1.namespaces().create({ metadata: { generateName: 'sites-' } });
      namespace = made.metadata.name ?? '';
    });
    afterEach(async () => {
      for (const operator of operators.splice(0)) await operator.stop();
    });

    const start = async (identity = 'operator'): Promise<RunningOperator> => {
      const operator = runInThisProcess(await target.link(), { identity, leaseDurationMs: target.leaseMs });
      operators.push(operator);
      return operator;
    };
    const sites = () => admin.of(Sites, namespace);
    const create = async (name: string, spec: Partial<SiteSpec> = {}): Promise<Site> =>
      sites().create(site(name, { host: `${name}.${namespace}.example.com`, ...spec }));
    const found = async <T>(reading: Promise<T>): Promise<T | undefined> =>
      reading.catch((error: unknown) => {
        if (hasCode(error, 404)) return undefined;
        throw error;
      });
    const configMap = async (name: string) => found(admin.core.v1.configmaps(namespace).get(name));
    const deployment = async (name: string) => found(admin.apps.v1.deployments(namespace).get(name));
    const hosts = async (): Promise<readonly string[]> => {
      const map = await found(admin.core.v1.configmaps(HOSTS.namespace).get(HOSTS.name));
      return Object.keys(map?.data ?? {}).filter((host) => host.endsWith(`${namespace}.example.com`));
    };
    const deployed = async (name: string): Promise<void> =>
      eventually(`the site ${name} is deployed`, async () => {
        const { metadata, status } = await sites().get(name);
        return status?.observedGeneration === metadata.generation;
      });
    const changePage = async (name: string, page: string): Promise<void> => {
      // The operator may write at the same moment.
      const patch = { contentType: 'application/merge-patch+json', body: { spec: { page } } };
      await sites().patch(name, patch);
    };
    const serves = async (name: string, page: string): Promise<void> =>
      eventually(
        `${name} serves ${page}`,
        async () => (await configMap(name))?.data?.['index.html'] === page,
      );
    const isGone = async (name: string): Promise<void> =>
      eventually(`${name} is gone`, async () => (await found(sites().get(name))) === undefined);

    test('a site gets objects that it owns, and changes of either side are reconciled', async () => {
      await start();
      const { metadata } = await create('a', { page: 'one', replicas: 2 });
      await deployed('a');
      const owner = { kind: 'Site', name: 'a', uid: metadata.uid, controller: true };
      expect((await configMap('a'))?.metadata.ownerReferences).toMatchObject([owner]);
      expect(await deployment('a')).toMatchObject({
        metadata: { ownerReferences: [owner] },
        spec: { replicas: 2 },
      });
      await changePage('a', 'two');
      await serves('a', 'two');
      const patch = {
        contentType: 'application/merge-patch+json',
        body: { data: { 'index.html': 'hacked' } },
      };
      await admin.core.v1.configmaps(namespace).patch('a', patch);
      await serves('a', 'two');
      await admin.apps.v1.deployments(namespace).delete('a');
      await eventually('the deployment is back', async () => {
        const current = await deployment('a');
        return current !== undefined && current.metadata.deletionTimestamp === undefined;
      });
    });

    test('the webhook denies a host that is no DNS name, and one that another site has', async () => {
      await create('a');
      await expect(create('b', { host: 'not a name' })).rejects.toThrow('"not a name" is no DNS name');
      const taken = `a.${namespace}.example.com`;
      await expect(create('b', { host: taken })).rejects.toThrow(`is the host of ${namespace}/a`);
      await create('b');
      await expect(
        sites().update({ ...(await sites().get('b')), spec: { host: taken, page: '' } }),
      ).rejects.toThrow(`is the host of ${namespace}/a`);
    });

    test('a deleted site stays until the operator has withdrawn its host', async () => {
      const first = await start();
      await create('a');
      await create('b');
      await deployed('a');
      await deployed('b');
      expect((await hosts()).length).toBe(2);
      await first.stop();
      await sites().delete('a');
      expect((await sites().get('a')).metadata).toMatchObject({
        deletionTimestamp: expect.any(String),
        finalizers: [FINALIZER],
      });
      await start();
      await isGone('a');
      expect(await hosts()).toEqual([`b.${namespace}.example.com`]);
    });

    test('the status follows the deployment, and only the status subresource writes it', async () => {
      await start();
      const status = { phase: 'Ready', readyReplicas: 9, observedGeneration: 9 } as const;
      await sites().create({ ...site('a', { host: `a.${namespace}.example.com`, replicas: 3 }), status });
      await deployed('a');
      expect((await sites().get('a')).status).toEqual({
        phase: 'Deploying',
        readyReplicas: 0,
        observedGeneration: 1,
      });
      await changePage('a', 'new');
      await eventually(
        'the new generation is observed',
        async () => (await sites().get('a')).status?.observedGeneration === 2,
      );
      // No pod is wanted, so that the deployment is ready without one.
      const patch = { contentType: 'application/merge-patch+json', body: { spec: { replicas: 0 } } };
      await sites().patch('a', patch);
      await eventually('the site is ready', async () => (await sites().get('a')).status?.phase === 'Ready');
    });

    test('the objects of a deleted site are collected', async () => {
      await start();
      await create('a');
      await create('b');
      await deployed('a');
      await deployed('b');
      await sites().delete('a');
      await eventually('the objects are collected', async () => {
        const left = await Promise.all([configMap('a'), deployment('a'), found(sites().get('a'))]);
        return left.every((each) => each === undefined);
      });
      expect(await configMap('b')).toBeDefined();
    });

    test('a deleted namespace goes with its sites, whose hosts are withdrawn', async () => {
      await start();
      await create('a');
      await deployed('a');
      await admin.core.v1.namespaces().delete(namespace);
      await eventually(
        'the namespace is gone',
        async () => (await found(admin.core.v1.namespaces().get(namespace))) === undefined,
      );
      expect(await hosts()).toEqual([]);
    });

    test('one operator leads, and another takes over when it loses the server or stops', async () => {
      const leader = async (): Promise<string | undefined> =>
        (await found(admin.coordination.v1.leases(HOSTS.namespace).get('site-operator')))?.spec
          ?.holderIdentity;
      const first = await start('first');
      await eventually('the first leads', async () => (await leader()) === 'first');
      const second = await start('second');
      await create('a');
      await deployed('a');
      await eventually('the second waits', () =>
        second.link.answers.some(({ path }) => path.includes('/leases/')),
      );
      expect(second.link.answers.filter(({ path }) => path.includes('/sites'))).toEqual([]);
      first.link.partition();
      await eventually('the second leads', async () => (await leader()) === 'second');
      await create('b');
      await deployed('b');
      await eventually('the first has noticed', () => first.lost() > 0);
      await start('third');
      await second.stop();
      await eventually('the third leads', async () => (await leader()) === 'third');
      await create('c');
      await deployed('c');
    });

    test('conflicts are retried on the current object', async () => {
      const { link } = await start();
      await create('a');
      await deployed('a');
      link.conflict(2);
      await changePage('a', 'two');
      await deployed('a');
      expect(link.answers.filter(({ method, code }) => method === 'PUT' && code === 409)).toHaveLength(2);
      expect((await configMap('a'))?.data).toEqual({ 'index.html': 'two' });
      expect((await sites().get('a')).metadata.finalizers).toEqual([FINALIZER]);
    });

    test.each([
      ['cut', (link: Link) => link.cutWatches()],
      ['expired', (link: Link) => link.expireWatches()],
    ] as const)('no change is lost with a watch that is %s', async (_, strike) => {
      const { link } = await start();
      await create('a', { page: 'one' });
      await create('b');
      await deployed('a');
      await deployed('b');
      const watches = (): number => link.answers.filter(isWatchOfSites).length;
      const before = watches();
      strike(link);
      await changePage('a', 'two');
      await sites().delete('b');
      await create('c');
      await serves('a', 'two');
      await isGone('b');
      await deployed('c');
      await eventually('the operator watches again', () => watches() > before);
    });
  });
}

interface RunningOperator {
  readonly link: Link;
  /** How often it has lost the leadership. */
  lost(): number;
  stop(): Promise<void>;
}

/** A process of the operator that loses the leadership is started again. */
function runInThisProcess(link: Link, election: Election): RunningOperator {
  const stop = new AbortController();
  let losses = 0;
  const run = async (): Promise<void> => {
    while ((await runOperator(link.client, election, stop.signal)) === 'lost') losses += 1;
  };
  const running = run();
  return {
    link,
    lost: () => losses,
    stop: async () => {
      stop.abort(new Error('the test stops the operator'));
      await running;
      await link.close();
    },
  };
}

function site(
  name: string,
  spec: Partial<SiteSpec>,
): Pick<Site, 'spec'> & { readonly metadata: { readonly name: string } } {
  return { metadata: { name }, spec: { host: `${name}.example.com`, page: 'hello', ...spec } };
}

/** Throws an error that is no denial, such as that of a webhook that cannot be called. */
function isDenied(error: unknown): true {
  if (error instanceof Error && error.message.includes('is no DNS name')) return true;
  throw error;
}

function isWatchOfSites({ path }: { readonly path: string }): boolean {
  return /\/sites\?.*watch=(?:true|1)/u.test(path);
}

function webhookConfiguration(port: number, ca: string) {
  return {
    metadata: { name: 'sites' },
    webhooks: [
      {
        name: 'sites.example.com',
        clientConfig: {
          url: `https://127.0.0.1:${String(port)}/`,
          caBundle: Buffer.from(ca).toString('base64'),
        },
        rules: [
          {
            apiGroups: ['example.com'],
            apiVersions: ['v1'],
            operations: ['CREATE', 'UPDATE'],
            resources: ['sites'],
          },
        ],
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
        failurePolicy: 'Fail',
      },
    ],
  };
}
