import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import path from 'node:path';
import { connect as connectTls } from 'node:tls';
import { ensureSigningAuthority } from '../deploy/local/signing-authority';
import { issueCertificate } from '../shared/certs/certificate';
import { eventually, patience } from '../shared/testing/eventually';
import type { ApiClient, Body } from './support/client';
import type { HaSet } from './support/ha-set';
import { startHaSet } from './support/ha-set';
import type { KubectlResult } from './support/kubectl';
import { findKubectls, followKubectl, runKubectl } from './support/kubectl';
import { startLocalServer } from './support/local-server';
import { configMap, namespace } from './support/objects';
import { SAMPLE } from './support/sample-server/sample-documents';
import type { SampleServer } from './support/sample-server/sample-server';
import { startSampleServer } from './support/sample-server/sample-server';
import { explained, makeWorkspace } from './support/workspace';

const SERVICES = '/api/v1/namespaces/default/services';
const API_SERVICES = '/apis/apiregistration.k8s.io/v1/apiservices';
const NAME = `${SAMPLE.version}.${SAMPLE.group}`;
const ROOT = `/apis/${SAMPLE.groupVersion}`;
const HOSTS = ['sample.default.svc'];

const workspace = makeWorkspace('aggregated');
const proxy = proxyFiles(workspace.dir);
let set: HaSet;
let sample: SampleServer;

beforeAll(
  explained(async () => {
    const { dir } = workspace;
    sample = await startSampleServer({ dir, proxyCaFile: proxy.caFile, address: '127.0.0.1', hosts: HOSTS });
    set = await startHaSet({
      replicas: 2,
      etcd: 1,
      balancer: true,
      controllerManagers: 1,
      dialect: 'kubernetes',
      extraArgs: proxy.args,
    });
    await set.client.create(SERVICES, {
      metadata: { name: 'sample' },
      spec: { type: 'ExternalName', externalName: 'localhost' },
    });
    await set.client.create(API_SERVICES, apiService(sample));
    await everywhere('available', 200);
  }),
);

afterAll(async () => {
  await set?.stop();
  await sample?.kill();
  workspace.remove();
});

/** The certificate by which the API servers authenticate as the front proxy. */
function proxyFiles(dir: string): { readonly caFile: string; readonly args: readonly string[] } {
  const { certFile: caFile, keyFile: caKeyFile } = ensureSigningAuthority(dir);
  const authority = {
    certificatePem: readFileSync(caFile, 'utf8'),
    privateKeyPem: readFileSync(caKeyFile, 'utf8'),
  };
  const issued = issueCertificate(authority, { commonName: 'front-proxy', usages: ['client'], validDays: 1 });
  const [certFile, keyFile] = [path.join(dir, 'proxy.crt'), path.join(dir, 'proxy.key')];
  writeFileSync(certFile, issued.certificatePem);
  writeFileSync(keyFile, issued.privateKeyPem);
  return { caFile, args: [`--proxy-client-cert-file=${certFile}`, `--proxy-client-key-file=${keyFile}`] };
}

function apiService({ port, caBundle }: SampleServer): object {
  const { group, version } = SAMPLE;
  const service = { namespace: 'default', name: 'sample', port };
  return {
    metadata: { name: NAME },
    spec: { group, version, groupPriorityMinimum: 1000, versionPriority: 15, service, caBundle },
  };
}

const inNamespace = (name: string): string => `${ROOT}/namespaces/${name}/${SAMPLE.resource}`;

function flunder(name: string): object {
  return { apiVersion: SAMPLE.groupVersion, kind: SAMPLE.kind, metadata: { name }, spec: { size: 3 } };
}

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
}

function conditionsOf({ status }: Body): readonly Condition[] {
  return (status as { readonly conditions?: readonly Condition[] } | undefined)?.conditions ?? [];
}

/** Waits until every replica returns this status, exports it as a metric and publishes the matching condition. */
async function everywhere(what: string, code: 200 | 503): Promise<void> {
  for (const { client, name } of set.replicas) {
    await eventually(`${name} finds it ${what}`, async () => {
      const answer = await client.get(`${ROOT}/${SAMPLE.resource}`);
      const [available] = conditionsOf((await client.get(`${API_SERVICES}/${NAME}`)).body);
      const { text } = await client.get('/metrics');
      const gauge = /^aggregator_unavailable_apiservice\{name="([^"]*)"\} (\d)$/mu.exec(text);
      return (
        answer.status === code &&
        available?.status === (code === 200 ? 'True' : 'False') &&
        gauge?.[1] === NAME &&
        gauge[2] === (code === 200 ? '0' : '1')
      );
    });
  }
}

for (const { title, program } of findKubectls()) {
  const describeIfFound = program === undefined ? describe.skip : describe;
  describeIfFound(title, () => {
    const home = path.join(workspace.dir, title.replaceAll(' ', '-'));
    const found = program ?? '';
    const options = (): { readonly kubeconfig: string; readonly home: string } => {
      mkdirSync(home, { recursive: true });
      return { kubeconfig: set.kubeconfig, home };
    };
    const kubectl = async (args: readonly string[], input = ''): Promise<KubectlResult> =>
      runKubectl(found, args, { ...options(), input });

    test(
      'creates, gets, watches, explains and deletes objects of the extension API server',
      explained(async () => {
        const watching = followKubectl(found, ['get', 'fl', '--watch', '-o', 'name'], options());
        await eventually('the watch is open', () => sample.flunders.watchers() > 0);
        expect(await kubectl(['create', '-f', '-'], JSON.stringify(flunder('one')))).toMatchObject({
          exitCode: 0,
          stdout: `flunder.${SAMPLE.group}/one created\n`,
        });
        expect((await watching.lines.next()).value).toBe(`flunder.${SAMPLE.group}/one`);
        watching.stop();
        expect((await kubectl(['get', 'flunders'])).stdout).toMatch(/^NAME +AGE\none +\d+\w+\n$/u);
        expect(
          (await kubectl(['get', 'flunders', '-A', '-o', 'jsonpath={.items[*].spec.size}'])).stdout,
        ).toBe('3');
        const size = await kubectl(['explain', 'flunders.spec.size']);
        expect(size).toMatchObject({
          exitCode: 0,
          stdout: expect.stringContaining('How long it is.') as string,
        });
        expect((await kubectl(['explain', 'flunders'])).stdout).toContain('A flunder swims at the bottom.');
        // The other definition of that name remains for the kinds that refer to it.
        expect((await kubectl(['explain', 'flunders.metadata'])).stdout).toContain('labels');
        expect((await kubectl(['explain', 'configmaps.metadata'])).stdout).toContain('managedFields');
        expect(await kubectl(['delete', 'flunder', 'one'])).toMatchObject({ exitCode: 0 });
        expect(sample.flunders.list()).toEqual([]);
      }),
    );
  });
}

test(
  'the extension API server sees the authenticated user, whatever headers the client sends',
  explained(async () => {
    await set.of(0).request({
      path: inNamespace('default'),
      headers: { 'x-remote-user': 'somebody', 'x-remote-group': 'system:other' },
    });
    const request = sample.seen.findLast(({ url }) => url === inNamespace('default'));
    expect(request?.headers).toMatchObject({
      'x-remote-user': 'admin',
      'x-remote-group': expect.stringContaining('system:masters') as string,
    });
    expect(request?.headers.authorization).toBeUndefined();
  }),
);

test.each(['websocket', 'SPDY/3.1'])(
  'an upgrade to %s carries bytes in both directions, and ends with its client',
  async (protocol) => {
    for (const { client } of set.replicas) {
      const { socket, head } = await upgraded(client, protocol);
      expect(head).toMatch(/^HTTP\/1\.1 101 /u);
      expect(head.toLowerCase()).toContain(`upgrade: ${protocol.toLowerCase()}`);
      const text = 'there and back '.repeat(10_000);
      socket.write(text);
      let echoed = '';
      while (echoed.length < text.length) {
        const [piece] = (await once(socket, 'data', { signal: patience() })) as [Buffer];
        echoed += piece.toString('latin1');
      }
      expect(echoed === text).toBe(true);
      socket.destroy();
      await eventually('the extension API server has no open upgrade', () => sample.upgrades() === 0);
    }
  },
);

test(
  'an unavailable extension API server blocks the deletion of its namespaces only, until it is back',
  explained(async () => {
    await set.client.create('/api/v1/namespaces', namespace('waters'));
    await set.client.create('/api/v1/namespaces/waters/configmaps', configMap('map'));
    expect((await set.client.create(inNamespace('waters'), flunder('two'))).status).toBe(201);
    expect((await set.client.create(inNamespace('default'), flunder('three'))).status).toBe(201);

    await sample.kill();
    await everywhere('dead', 503);
    expect(await set.of(1).get(inNamespace('waters'))).toMatchObject({
      status: 503,
      text: 'service unavailable\n',
    });
    const [available] = conditionsOf((await set.of(0).get(`${API_SERVICES}/${NAME}`)).body);
    expect(available).toMatchObject({ reason: 'FailedDiscoveryCheck' });

    await set.client.delete('/api/v1/namespaces/waters');
    await eventually('the condition of the namespace names the reason', async () => {
      const { body } = await set.client.get('/api/v1/namespaces/waters');
      const failure = conditionsOf(body).find(({ type }) => type === 'NamespaceDeletionDiscoveryFailure');
      return failure?.status === 'True' && failure.message.includes(`${SAMPLE.groupVersion}: `);
    });
    const maps = await set.client.get('/api/v1/namespaces/waters/configmaps');
    expect(maps.body.items?.filter(({ metadata }) => metadata?.name === 'map')).toEqual([]);
    await foregroundDeletion(set.client);
    // Its discovery documents remain meanwhile.
    const { text } = await set.of(0).get('/openapi/v2');
    expect(text).toContain('A flunder swims at the bottom.');

    await sample.restart('How far it swims.');
    await everywhere('alive', 200);
    await eventually('the namespace is gone', async () => {
      return (await set.client.get('/api/v1/namespaces/waters')).status === 404;
    });
    expect(sample.flunders.list().map(({ metadata }) => metadata?.name)).toEqual(['three']);
    for (const { client, name } of set.replicas) {
      await eventually(`${name} has read its documents again`, async () =>
        (await client.get('/openapi/v2')).text.includes('How far it swims.'),
      );
    }
  }),
);

test(
  'merged discovery and OpenAPI documents disappear with the APIService',
  explained(async () => {
    expect((await set.client.delete(`${API_SERVICES}/${NAME}`)).status).toBe(200);
    for (const { client, name } of set.replicas) {
      await eventually(`${name} does not serve it any more`, async () => {
        const { text } = await client.get('/openapi/v2');
        return !text.includes(SAMPLE.group) && (await client.get(ROOT)).status === 404;
      });
    }
  }),
);

const address = Object.values(networkInterfaces())
  .flatMap((all) => all ?? [])
  .find(({ family, internal }) => family === 'IPv4' && !internal)?.address;

// Endpoints must not be loopback addresses.
(address === undefined ? test.skip : test)(
  'with --enable-aggregator-routing requests go to ready addresses of the Service only',
  explained(async () => {
    const { dir } = workspace;
    const at = address ?? '';
    const other = await startSampleServer({ dir, proxyCaFile: proxy.caFile, address: at, hosts: HOSTS });
    const local = await startLocalServer('kubernetes', () => [...proxy.args, '--enable-aggregator-routing']);
    try {
      const { client } = local.replica;
      const ports = [{ port: other.port }];
      const subsets = [{ addresses: [{ ip: at }], notReadyAddresses: [{ ip: '192.0.2.1' }], ports }];
      await client.create(SERVICES, { metadata: { name: 'sample' }, spec: { ports } });
      await client.create(API_SERVICES, apiService(other));
      const becomes = async (reason: string): Promise<void> => {
        await eventually(reason, async () => {
          const [available] = conditionsOf((await client.get(`${API_SERVICES}/${NAME}`)).body);
          return available?.reason === reason;
        });
      };
      await becomes('EndpointsNotFound');
      await client.create('/api/v1/namespaces/default/endpoints', { metadata: { name: 'sample' }, subsets });
      await becomes('Passed');
      expect((await client.create(inNamespace('default'), flunder('routed'))).status).toBe(201);
      expect(other.flunders.list()).toHaveLength(1);
      const notReady = [{ notReadyAddresses: [{ ip: at }], ports }];
      await client.mergePatch('/api/v1/namespaces/default/endpoints/sample', { subsets: notReady });
      await becomes('MissingEndpoints');
      expect((await client.get(inNamespace('default'))).status).toBe(503);
    } finally {
      await local.stop();
      await other.kill();
    }
  }),
);

/** Creates an owner that waits for its dependents, as foreground deletion requires. */
async function foregroundDeletion(client: ApiClient): Promise<void> {
  const maps = '/api/v1/namespaces/default/configmaps';
  const owner = (await client.create(maps, configMap('owner'))).body;
  const owned = {
    metadata: {
      name: 'owned',
      ownerReferences: [
        {
          apiVersion: 'v1',
          kind: 'ConfigMap',
          name: 'owner',
          uid: owner.metadata?.uid,
          blockOwnerDeletion: true,
        },
      ],
    },
  };
  expect((await client.create(maps, owned)).status).toBe(201);
  await client.delete(`${maps}/owner`, {
    apiVersion: 'v1',
    kind: 'DeleteOptions',
    propagationPolicy: 'Foreground',
  });
  await eventually('the owner and its dependent are deleted', async () => {
    return (
      (await client.get(`${maps}/owner`)).status === 404 && (await client.get(`${maps}/owned`)).status === 404
    );
  });
}

async function upgraded(
  { server }: ApiClient,
  protocol: string,
): Promise<{ readonly socket: Socket; readonly head: string }> {
  const { hostname, port } = new URL(server);
  const ca = readFileSync(set.replicas[0]?.caFile ?? '');
  const socket = connectTls({ host: hostname, port: Number(port), ca });
  socket.on('error', () => undefined);
  await once(socket, 'secureConnect', { signal: patience() });
  const webSocket =
    protocol === 'websocket'
      ? 'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n'
      : '';
  socket.write(
    `GET ${inNamespace('default')}/any/echo HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${set.adminToken}\r\n` +
      `Connection: Upgrade\r\nUpgrade: ${protocol}\r\n${webSocket}\r\n`,
  );
  const [head] = (await once(socket, 'data', { signal: patience() })) as [Buffer];
  return { socket, head: head.toString('latin1') };
}
