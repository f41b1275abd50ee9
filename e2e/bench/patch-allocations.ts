import path from 'node:path';
import { caFileOf, serverUrl } from '../../deploy/local/api-server';
import { ensureCredentials } from '../../deploy/local/credentials';
import { freePort, LOOPBACK } from '../../deploy/local/ports';
import { waitUntilReady } from '../../deploy/local/readiness';
import { programPath } from '../../deploy/local/repository';
import type { StartedProcess } from '../../deploy/local/started-process';
import { startProcess } from '../../deploy/local/started-process';
import { namespace } from '../support/objects';
import { ApiClient } from '../support/client';
import { makeWorkspace } from '../support/workspace';
import { askProbe } from './ask-probe';
import { benchPod } from './bench-pod';
import type { Bench } from './rig';
import type { Table } from './table';

/** The output of the probe in the server, in bytes. */
export interface Allocated {
  readonly heap: number;
  /** Memory outside of the heap, such as buffers. */
  readonly outside: number;
  /** Garbage collections in between; any of them invalidates the figures. */
  readonly collections: number;
}

/** Half of the young generation: large enough for one measurement without a collection. */
const SEMI_SPACE_MB = 256;
const WARM_UP_OPERATIONS = 300;
const OPERATIONS = 64;
const TRIES_MAX = 8;
const OBJECTS = 16;
const READY_DEADLINE_MS = 60_000;
const GRACE_MS = 5_000;

const PODS = '/api/v1/namespaces/allocations/pods';
const APPLY = 'application/apply-patch+yaml';
const STRATEGIC = 'application/strategic-merge-patch+json';

/**
 * Measures how much a separate server allocates for one patch, including TLS, HTTP, the call to etcd and the resulting event. The
 * objects are pods of about 6 KB with managedFields of several managers.
 */
export async function measureAllocations({ etcdEndpoint }: Bench): Promise<Table> {
  const workspace = makeWorkspace('allocations');
  const probeFile = path.join(workspace.dir, 'allocations.json');
  const { program, client } = await startProbed(etcdEndpoint, workspace.dir, probeFile);
  try {
    await fill(client);
    const rows: (readonly string[])[] = [];
    for (const work of WORKS) rows.push(await measure({ program, client, probeFile }, work));
    return {
      title: 'Allocations',
      header: ['work', 'object', 'on the heap', 'outside of it', 'heap per byte', 'all per byte'],
      rows,
      notes: [
        'Outside of the heap are buffers, most of it what connections of clients are read into: 64 KB at a time.',
      ],
    };
  } finally {
    client.close();
    await program.stop(GRACE_MS);
    workspace.remove();
  }
}

interface Work {
  readonly name: string;
  readonly type: string;
  /** Appended to the path of the pod. */
  readonly place: string;
  readonly body: (name: string, count: number) => object;
}

const WORKS: readonly Work[] = [
  {
    name: 'merge patch of a pod',
    type: 'application/merge-patch+json',
    place: '?fieldManager=merger',
    body: (_name, count) => ({ metadata: { annotations: { merged: String(count) } } }),
  },
  {
    name: 'strategic merge patch of a pod',
    type: STRATEGIC,
    place: '?fieldManager=merger',
    body: (_name, count) => ({ metadata: { annotations: { merged: String(count) } } }),
  },
  {
    name: 'strategic merge patch of a pod’s status',
    type: STRATEGIC,
    place: '/status?fieldManager=kubelet',
    body: (_name, count) => ({ status: { conditions: [{ type: 'Ready', message: String(count) }] } }),
  },
  {
    name: 'JSON patch of a pod',
    type: 'application/json-patch+json',
    place: '?fieldManager=merger',
    body: (_name, count) => [{ op: 'add', path: '/metadata/annotations/merged', value: String(count) }],
  },
  {
    name: 'apply of a pod',
    type: APPLY,
    place: '?fieldManager=deployer',
    body: (name, count) => configOf(name, String(count)),
  },
];

interface Probed {
  readonly program: StartedProcess;
  readonly client: ApiClient;
  readonly probeFile: string;
}

async function startProbed(
  etcdEndpoint: string,
  dir: string,
  probeFile: string,
): Promise<Pick<Probed, 'program' | 'client'>> {
  const port = await freePort();
  const certDir = path.join(dir, 'certs');
  const credentials = ensureCredentials(dir);
  const program = await startProcess({
    name: 'apiserver under the probe',
    command: process.execPath,
    args: [
      '--expose-gc',
      `--min-semi-space-size=${String(SEMI_SPACE_MB)}`,
      `--max-semi-space-size=${String(SEMI_SPACE_MB)}`,
      '--require',
      path.join(__dirname, 'allocation-probe.js'),
      programPath('apiserver'),
      '--storage-backend=etcd3',
      `--etcd-servers=${etcdEndpoint}`,
      '--etcd-prefix=/allocations',
      `--bind-address=${LOOPBACK}`,
      `--secure-port=${String(port)}`,
      `--cert-dir=${certDir}`,
      `--token-auth-file=${credentials.tokenFile}`,
      '--authorization-mode=AlwaysAllow',
    ],
    env: { ORCH_BENCH_PROBE_FILE: probeFile },
  });
  const target = { server: serverUrl(port), caFile: caFileOf(certDir), token: credentials.adminToken };
  await waitUntilReady(program, { ...target, deadlineMs: READY_DEADLINE_MS });
  return { program, client: new ApiClient(target) };
}

function configOf(name: string, owner: string): object {
  const pod = benchPod(1) as { metadata: object; spec: object };
  const { nodeName: _unscheduled, ...spec } = pod.spec as { nodeName?: string };
  const annotations = { 'example.com/checksum': 'a3f5'.repeat(16), 'example.com/owner': owner };
  return { ...pod, metadata: { ...pod.metadata, name, annotations }, spec };
}

const STATUS = {
  phase: 'Running',
  podIP: '10.1.2.3',
  conditions: ['Initialized', 'Ready', 'ContainersReady', 'PodScheduled'].map((type) => ({
    type,
    status: 'True',
    lastTransitionTime: '2024-01-01T00:00:00Z',
  })),
  containerStatuses: ['main', 'sidecar'].map((name) => ({
    name,
    ready: true,
    restartCount: 0,
    image: `registry.example/${name}:1.2.3`,
    imageID: `sha256:${'0123'.repeat(16)}`,
    state: { running: { startedAt: '2024-01-01T00:00:00Z' } },
  })),
};

async function fill(client: ApiClient): Promise<void> {
  await client.create('/api/v1/namespaces', namespace('allocations'));
  await client.create('/api/v1/namespaces/allocations/serviceaccounts', { metadata: { name: 'default' } });
  for (let index = 0; index < OBJECTS; index++) {
    const name = nameOf(index);
    await send(client, `${PODS}/${name}?fieldManager=deployer`, { type: APPLY, body: configOf(name, '') });
    const status = { type: STRATEGIC, body: { status: STATUS } };
    await send(client, `${PODS}/${name}/status?fieldManager=kubelet`, status);
  }
}

function nameOf(index: number): string {
  return `pod-${String(index % OBJECTS)}`;
}

/** Returns the bytes of the answer. */
async function send(
  client: ApiClient,
  at: string,
  { type, body }: { readonly type: string; readonly body: object },
): Promise<number> {
  const headers = { 'content-type': type };
  const answer = await client.request({ method: 'PATCH', path: at, headers, body });
  if (answer.status >= 300) throw new Error(`${at} answered ${answer.text}`);
  return answer.bytes.length;
}

async function measure(probed: Probed, work: Work): Promise<readonly string[]> {
  let count = 0;
  const operations = async (times: number): Promise<number> => {
    let bytes = 0;
    for (let time = 0; time < times; time++) {
      const name = nameOf(++count);
      const at = `${PODS}/${name}${work.place}`;
      bytes += await send(probed.client, at, { type: work.type, body: work.body(name, count) });
    }
    return bytes;
  };
  await operations(WARM_UP_OPERATIONS);
  for (let tries = 1; ; tries++) {
    await askProbe(probed.program, probed.probeFile);
    const bytes = await operations(OPERATIONS);
    const { heap, outside, collections } = (await askProbe(probed.program, probed.probeFile)) as Allocated;
    if (collections > 0 && tries < TRIES_MAX) continue;
    if (collections > 0) throw new Error(`Memory was collected during the measurement of ${work.name}.`);
    const objectBytes = bytes / OPERATIONS;
    const kilobytes = (amount: number): string => `${(amount / OPERATIONS / 1024).toFixed(0)} KB`;
    const perByte = (amount: number): string => `${(amount / bytes).toFixed(1)} ×`;
    return [
      work.name,
      `${objectBytes.toFixed(0)} B`,
      kilobytes(heap),
      kilobytes(outside),
      perByte(heap),
      perByte(heap + outside),
    ];
  }
}
