import { randomBytes } from 'node:crypto';
import { connect as connectHttp2 } from 'node:http2';
import type { TLSSocket } from 'node:tls';
import { connect } from 'node:tls';
import { eventually } from '../shared/testing/eventually';
import { suiteHaSet } from './support/suite';

/**
 * A user without superuser rights sends more to a replica with a heap of 256 MB than it can hold: large concurrent bodies, and lists and watches
 * that the client never reads. The replica refuses requests and survives.
 */
const HEAP_MB = 256;
const set = suiteHaSet({
  replicas: 1,
  etcd: 1,
  balancer: false,
  controllerManagers: 0,
  dialect: 'kubernetes',
  // Seats are disabled, so that only the limits of bytes apply.
  extraArgs: [
    '--disable-admission-plugins=ServiceAccount',
    '--enable-priority-and-fairness=false',
    '--max-requests-inflight=0',
    '--max-mutating-requests-inflight=0',
  ],
  processOf: () => ({ nodeFlags: [`--max-old-space-size=${String(HEAP_MB)}`], env: {} }),
});

const MAPS = '/api/v1/namespaces/default/configmaps';
const AS = { 'impersonate-user': 'greedy', 'impersonate-group': 'system:authenticated' };
/** Below the size of offloaded requests, so that the process parses it; many values that need far more memory than bytes. */
const VALUES = 2_900;
const WRITERS = 300;
const ROUNDS = 2;
const UNREAD = 40;
const SLOW_WATCHES = 5;
/** Far more than all queues and socket buffers hold. */
const CHANGES_MAX = 5_000;
const CHANGES_AT_ONCE = 10;

/** A list of these exceeds the socket buffers, and a few such lists exceed the unread bytes that one user may have. */
const LONG_OBJECTS = 40;
const LONG_BYTES = 225_000;
const FORMS = [
  'application/json',
  'application/vnd.kubernetes.protobuf',
  'application/json;as=Table;v=v1;g=meta.k8s.io',
];
const ENCODINGS = ['identity', 'gzip'];
const UNREAD_OF_A_FORM = 3;
const HALF_BODIES = 40;
const BODY_BYTES = 3 * 1_024 * 1_024;

const REJECTIONS = 'apiserver_request_memory_rejections_total';
const GIVEN_BACK = [
  'apiserver_request_memory_bytes{kind="answers"}',
  'apiserver_request_memory_bytes{kind="bodies"}',
  'apiserver_watch_cache_watch_queue_bytes',
];

beforeAll(async () => {
  const rbac = 'rbac.authorization.k8s.io';
  const binding = {
    metadata: { name: 'greedy' },
    subjects: [{ kind: 'User', name: 'greedy', apiGroup: rbac }],
    roleRef: { kind: 'ClusterRole', name: 'cluster-admin', apiGroup: rbac },
  };
  const made = await set.client.create(`/apis/${rbac}/v1/clusterrolebindings`, binding);
  expect(made.status).toBe(201);
});

test('it refuses requests above its memory limits and keeps serving', async () => {
  const { pid } = set.replicas[0]?.process() ?? {};
  const text = 'x'.repeat(30);
  const data = Object.fromEntries(
    Array.from({ length: VALUES }, (_value, at) => [`key-${String(at)}`, text]),
  );
  const codes = new Map<number, number>();
  const write = async (name: string): Promise<void> => {
    const body = { metadata: { name }, data };
    const { status } = await set.client.request({ method: 'POST', path: MAPS, body, headers: AS });
    codes.set(status, (codes.get(status) ?? 0) + 1);
    if (status === 201) await set.client.request({ method: 'DELETE', path: `${MAPS}/${name}`, headers: AS });
  };
  const kept = { metadata: { name: 'kept' }, data };
  expect((await set.client.create(MAPS, kept)).status).toBe(201);
  const readers = [
    ...Array.from({ length: UNREAD }, () => unread(MAPS)),
    // Each watch selects other objects, so that they share no events.
    ...Array.from({ length: SLOW_WATCHES }, (_watch, at) =>
      unread(`${MAPS}?watch=1&labelSelector=of%3D${String(at)}`),
    ),
  ];
  const watchers = /^apiserver_registered_watchers\{[^}]*ConfigMap[^}]*\} (\d+)$/mu;
  await eventually('the watches are open', async () => {
    const { text: metrics } = await set.client.get('/metrics');
    return Number(watchers.exec(metrics)?.[1] ?? 0) >= SLOW_WATCHES;
  });
  for (let round = 0; round < ROUNDS; round += 1) {
    await Promise.all(
      Array.from({ length: WRITERS }, async (_writer, at) => write(`large-${String(round)}-${String(at)}`)),
    );
  }
  expect([...codes.keys()].filter((code) => code !== 201 && code !== 429)).toEqual([]);
  expect([codes.has(201), codes.has(429)]).toEqual([true, true]);
  const { text: counted } = await set.client.get('/metrics');
  expect(counted).toMatch(/apiserver_request_memory_rejections_total\{kind="bodies"\} [1-9]/u);
  await changeUntilWatchersEnd(data);
  for (const socket of readers) socket.destroy();
  expect(set.replicas[0]?.process().pid).toBe(pid);
  await eventually('all memory is released', async () => {
    const metrics = (await set.client.get('/metrics')).text;
    return GIVEN_BACK.every((line) => metrics.includes(`${line} 0\n`));
  });
  expect((await set.client.get(`${MAPS}/kept`)).status).toBe(200);
});

test('unread lists in any encoding, and bodies that never end, stay within the memory limits', async () => {
  const { pid } = set.replicas[0]?.process() ?? {};
  // Random text cannot be compressed.
  const data = { text: randomBytes(LONG_BYTES).toString('base64') };
  for (let at = 0; at < LONG_OBJECTS; at += 1) {
    const made = await set.client.create(MAPS, { metadata: { name: `long-${String(at)}` }, data });
    expect(made.status).toBe(201);
  }
  const forms = FORMS.flatMap((accept) =>
    ENCODINGS.map((encoding) => ({ accept, 'accept-encoding': encoding })),
  );
  const sockets = forms.flatMap((form) => Array.from({ length: UNREAD_OF_A_FORM }, () => unread(MAPS, form)));
  const session = connectHttp2(set.server, { rejectUnauthorized: false }).on('error', () => undefined);
  for (const form of forms) {
    for (let at = 0; at < UNREAD_OF_A_FORM; at += 1) {
      const headers = { ':path': MAPS, authorization: `Bearer ${set.adminToken}`, ...AS, ...form };
      // The client does not read, so that its window stays full.
      session.request(headers).on('error', () => undefined);
    }
  }
  for (let at = 0; at < HALF_BODIES; at += 1) {
    const socket = unread(
      MAPS,
      { 'content-type': 'application/json', 'content-length': String(BODY_BYTES) },
      'POST',
    );
    socket.write(Buffer.alloc(BODY_BYTES / 2, ' '));
    sockets.push(socket);
  }
  const isRefused = async (kind: string): Promise<boolean> =>
    (await set.client.get('/metrics')).text
      .split('\n')
      .some((line) => line.startsWith(`${REJECTIONS}{kind="${kind}"} `) && !line.endsWith(' 0'));
  await eventually('more bodies are refused', async () => isRefused('bodies'));
  await eventually('more lists are refused', async () => {
    const more = forms.map((form) => unread(MAPS, form));
    sockets.push(...more);
    await Promise.all(more.map(begun));
    return isRefused('answers');
  });
  expect((await set.client.get(`${MAPS}/long-0`)).status).toBe(200);
  for (const socket of sockets) socket.destroy();
  session.destroy();
  await eventually('all memory is released', async () => {
    const metrics = (await set.client.get('/metrics')).text;
    return GIVEN_BACK.every((line) => metrics.includes(`${line} 0\n`));
  });
  expect(set.replicas[0]?.process().pid).toBe(pid);
});

/** Changes the objects of the slow watches until the server ends one of them. */
async function changeUntilWatchersEnd(data: object): Promise<void> {
  const ended = /apiserver_terminated_watchers_total\{resource="configmaps"\} [1-9]/u;
  const labelsOf = (at: number): object => ({ of: String(at) });
  const watched = Array.from({ length: SLOW_WATCHES }, (_watch, at) => ({
    metadata: { name: `watched-${String(at)}`, labels: labelsOf(at) },
    data,
  }));
  for (const object of watched) expect((await set.client.create(MAPS, object)).status).toBe(201);
  for (let changes = 0; changes < CHANGES_MAX; changes += 1) {
    for (const object of watched) {
      const { name } = object.metadata;
      const annotations = { changes: String(changes) };
      const body = { ...object, metadata: { ...object.metadata, annotations } };
      const { status } = await set.client.request({ method: 'PUT', path: `${MAPS}/${name}`, body });
      expect(status).toBe(200);
    }
    if (changes % CHANGES_AT_ONCE === 0 && ended.test((await set.client.get('/metrics')).text)) return;
  }
  throw new Error('no slow watcher was ended');
}

/** Resolves with the first bytes of the response, and reads no more. */
async function begun(socket: TLSSocket): Promise<void> {
  socket.resume();
  await new Promise<void>((resolve) => {
    socket.once('data', () => {
      socket.pause();
      resolve();
    });
    socket.once('close', () => resolve());
  });
}

/** Sends a request on a new connection, and never reads the response. */
function unread(target: string, headers: Readonly<Record<string, string>> = {}, method = 'GET') {
  const url = new URL(set.server);
  const socket = connect({ host: url.hostname, port: Number(url.port), rejectUnauthorized: false });
  socket.pause();
  socket.on('error', () => undefined);
  const head = [
    `${method} ${target} HTTP/1.1`,
    'Host: localhost',
    `Authorization: Bearer ${set.adminToken}`,
    ...Object.entries({ ...AS, ...headers }).map(([name, value]) => `${name}: ${value}`),
  ];
  socket.write(`${head.join('\r\n')}\r\n\r\n`);
  return socket;
}
