import { MessageChannel } from 'node:worker_threads';
import { silentLog } from '../../../shared/log/log';
import { GROUP, MEDIA_TYPE } from '../../../shared/names';
import { encodeProtobuf } from '../../../shared/protobuf/encode';
import { wrapEnvelope } from '../../../shared/protobuf/envelope';
import { messageType } from '../../../shared/schema/types';
import { eventually } from '../../../shared/testing/eventually';
import { newExchange } from '../request/testing/new-exchange';
import type { AuditTrail } from '../request/audit-trail';
import type { Answer, Exchange } from '../request/exchange';
import { statusErrorOf } from '../server/error-handler';
import { RemoteBackend } from '../storage/decorators/remote/remote-backend';
import { serveBackend } from '../storage/decorators/remote/serve-backend';
import { FaultyMemoryBackend } from '../storage/testing/faulty-memory-backend';
import type { CallOptions, InProcessApi, Reply } from '../../testing/in-process-api';
import { startInProcessApi } from '../../testing/in-process-api';
import { answerResource } from '../handlers/dispatch';
import { Offload } from './offload';
import { newOffloadCounts } from './offload-counts';
import type { Measured } from '../../compose/worker/measured';
import { addMeasured, measuresOf, takeMeasured } from '../../compose/worker/measured';
import { OffloadThread } from './offload-thread';
import { serveRequests } from './serve-requests';

const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';
const PODS = '/api/v1/namespaces/default/pods';
const REVIEWS = `/apis/${GROUP.authorization}/v1/selfsubjectaccessreviews`;
/** More values than the bounds allow, and than a few kilobytes hold. */
const MANY = 5_000;

const opened: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0)) await close();
});

interface Measuring {
  readonly takeMeasured: () => Measured | undefined;
  readonly measured: (measured: object) => void;
}

/** A thread without a thread: the other end of its ports is here. */
function threadBy(
  answer: (exchange: Exchange) => Promise<Answer>,
  counts = newOffloadCounts(),
  { takeMeasured: take = () => undefined, measured = () => undefined }: Partial<Measuring> = {},
): OffloadThread {
  const { port1, port2 } = new MessageChannel();
  serveRequests(port2, {
    answer,
    takeMeasured: take,
    statusOf: statusErrorOf,
    element: ({ bytes, search }) => {
      if (search === 'fails') throw new Error('no');
      return Buffer.from(`made of ${String(bytes.length)}`);
    },
  });
  const end = async (): Promise<void> => {
    port1.close();
    return Promise.resolve();
  };
  opened.push(end);
  return new OffloadThread({ requests: port1, end }, { log: silentLog, counts, measured });
}

interface Pair {
  /** Carries everything out itself. */
  readonly alone: InProcessApi;
  /** Offloads large requests. */
  readonly bounded: InProcessApi;
  readonly begun: () => number;
}

/** Two servers, each with its own store; the second one has a worker behind message ports. */
async function pair(): Promise<Pair> {
  const store = new FaultyMemoryBackend();
  const { port1, port2 } = new MessageChannel();
  serveBackend(store, port1);
  const replica = await startInProcessApi(new RemoteBackend(port2), { fills: 'on demand' });
  const counts = newOffloadCounts();
  const large = new Offload({
    begin: () =>
      threadBy(async (exchange) => answerResource(replica.verbs, exchange), counts, {
        takeMeasured: () => takeMeasured(measuresOf(replica.plane)),
        measured: (measured) => addMeasured(measuresOf(bounded.plane), measured as Measured),
      }),
    counts,
  });
  const bounded: InProcessApi = await startInProcessApi(store, { large });
  const alone = await startInProcessApi();
  opened.push(
    async () => large.close(),
    async () => replica.close(),
    async () => bounded.close(),
    async () => alone.close(),
  );
  return { alone, bounded, begun: () => counts.begun };
}

const keys = (count: number): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`key-${String(at)}`, 'x']));

const configMap = (name: string, count: number): object => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name },
  data: keys(count),
});

const yaml = (name: string, count: number): string =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}}\ndata:\n${Object.keys(keys(count))
    .map((key) => `  ${key}: x\n`)
    .join('')}`;

const pod = (containers: number): object => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'pod' },
  spec: { containers: Array.from({ length: containers }, () => ({})) },
});

/** An object of `v1` as Protobuf, whatever is wrong with it. */
const protobuf = (kind: string, object: object): CallOptions => ({
  text: wrapEnvelope({
    kind,
    apiVersion: 'v1',
    raw: encodeProtobuf(messageType(`core/v1.${kind}`), object),
  }),
  headers: { 'content-type': MEDIA_TYPE.protobuf },
});

const inYaml = (text: string): CallOptions => ({ text, headers: { 'content-type': MEDIA_TYPE.yaml } });
const reviewInYaml = inYaml(`a: [${'0,'.repeat(MANY)}0]`);
const deletionInYaml = inYaml(`propagationPolicy: Background\ndryRun: [${'All,'.repeat(MANY)}All]`);

type Call = readonly [method: string, url: string, options?: CallOptions];

/** Large requests, in order; later ones build on earlier ones. */
const CALLS: readonly (readonly [what: string, ...Call])[] = [
  ['a creation', 'POST', CONFIG_MAPS, { body: configMap('json', MANY) }],
  ['a create of an existing object', 'POST', CONFIG_MAPS, { body: configMap('json', MANY) }],
  [
    'a creation in YAML',
    'POST',
    CONFIG_MAPS,
    { text: yaml('yaml', MANY), headers: { 'content-type': 'application/yaml' } },
  ],
  [
    'YAML that is none',
    'POST',
    CONFIG_MAPS,
    { text: `${yaml('yaml', MANY)}: [`, headers: { 'content-type': 'application/yaml' } },
  ],
  ['an object with many faults', 'POST', PODS, { body: pod(MANY) }],
  [
    'a large object with warnings',
    'POST',
    `${CONFIG_MAPS}?fieldValidation=Warn`,
    { body: { ...configMap('warned', MANY), unknown: 1 } },
  ],
  [
    'a long name, which the refusal repeats',
    'POST',
    CONFIG_MAPS,
    { body: configMap('A'.repeat(200_000), 1) },
  ],
  [
    'the same, to be answered in YAML',
    'POST',
    CONFIG_MAPS,
    { body: configMap('A'.repeat(200_000), 1), headers: { accept: 'application/yaml' } },
  ],
  ['a creation in Protobuf', 'POST', CONFIG_MAPS, protobuf('ConfigMap', configMap('protobuf', MANY))],
  ['a few bytes of Protobuf that stand for many values', 'POST', PODS, protobuf('Pod', pod(MANY))],
  ['an object of another kind', 'POST', PODS, { body: configMap('json', MANY) }],
  ['a small patch of a large object', 'PATCH', `${CONFIG_MAPS}/json`, { body: { data: { more: 'y' } } }],
  ['a large patch', 'PATCH', `${CONFIG_MAPS}/json`, { body: { data: keys(MANY + 1) } }],
  [
    'a large strategic merge patch',
    'PATCH',
    `${CONFIG_MAPS}/json`,
    { body: { data: keys(MANY + 2) }, headers: { 'content-type': MEDIA_TYPE.strategicMergePatch } },
  ],
  [
    'a strategic merge patch that names one item again and again',
    'PATCH',
    `${CONFIG_MAPS}/small`,
    {
      body: { metadata: { ownerReferences: Array.from({ length: MANY }, () => ({ uid: 'u' })) } },
      headers: { 'content-type': MEDIA_TYPE.strategicMergePatch },
    },
  ],
  [
    'a patch that makes much of little',
    'PATCH',
    `${CONFIG_MAPS}/small?dryRun=All`,
    {
      text: JSON.stringify([
        { op: 'add', path: '/metadata/list', value: Array.from({ length: 100 }, () => 0) },
        ...Array.from({ length: 100 }, (_, at) => ({
          op: 'copy',
          from: '/metadata/list',
          path: `/metadata/l${String(at)}`,
        })),
      ]),
      headers: { 'content-type': 'application/json-patch+json' },
    },
  ],
  [
    'a large configuration',
    'PATCH',
    `${CONFIG_MAPS}/applied?fieldManager=one`,
    { body: configMap('applied', MANY), headers: { 'content-type': 'application/apply-patch+yaml' } },
  ],
  [
    'a conflict',
    'PATCH',
    `${CONFIG_MAPS}/applied?fieldManager=two`,
    {
      body: { ...configMap('applied', 0), data: { 'key-1': 'mine' } },
      headers: { 'content-type': 'application/apply-patch+yaml' },
    },
  ],
  ['a replacement by something small', 'PUT', `${CONFIG_MAPS}/applied`, { body: configMap('applied', 1) }],
  ['a large object in YAML', 'GET', `${CONFIG_MAPS}/json`, { headers: { accept: 'application/yaml' } }],
  [
    'a missing large object',
    'PUT',
    `${PODS}/absent`,
    { body: { ...pod(MANY), metadata: { name: 'absent' } } },
  ],
  ['a review', 'POST', REVIEWS, { body: { spec: { extra: keys(MANY) } } }],
  ['a review in YAML', 'POST', REVIEWS, reviewInYaml],
  ['the same, strict', 'POST', `${REVIEWS}?fieldValidation=Strict`, reviewInYaml],
  [
    'a deletion of a large object',
    'DELETE',
    `${CONFIG_MAPS}/json`,
    { body: { propagationPolicy: 'Background' } },
  ],
  [
    'large options of a deletion',
    'DELETE',
    `${CONFIG_MAPS}/small`,
    { body: { dryRun: Array.from({ length: MANY }, () => 'All') } },
  ],
  ['large options of a deletion in YAML', 'DELETE', `${CONFIG_MAPS}/small`, deletionInYaml],
  ['the same, of a collection', 'DELETE', `${CONFIG_MAPS}?labelSelector=a`, deletionInYaml],
];

test('whatever is large is answered as if it were not', async () => {
  const { alone, bounded, begun } = await pair();
  for (const api of [alone, bounded]) await api.call('POST', CONFIG_MAPS, { body: configMap('small', 3) });
  expect(begun()).toBe(0);
  const answers: unknown[] = [];
  const expected: unknown[] = [];
  for (const [what, ...call] of CALLS) {
    const before = begun();
    expected.push([what, shown(await alone.call(...call)), 'offloaded']);
    answers.push([
      what,
      shown(await bounded.call(...call)),
      begun() > before ? 'offloaded' : 'on the event loop',
    ]);
  }
  expect(answers).toEqual(expected);
});

/** The answer without fields that differ between servers. */
function shown({ code, text, warnings }: Reply): unknown {
  const same = text
    .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/gu, 'uid')
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/gu, 'time')
    .replaceAll(/"?resourceVersion"?: ?["']\d+["']/gu, 'version');
  return { code, same, warnings };
}

test('small requests stay where they are', async () => {
  const { bounded, begun } = await pair();
  const small = configMap('small', 20);
  const codes = [
    await bounded.call('POST', CONFIG_MAPS, { body: small }),
    await bounded.call('PATCH', `${CONFIG_MAPS}/small`, { body: { data: { more: 'y' } } }),
    await bounded.call('GET', `${CONFIG_MAPS}/small`, { headers: { accept: MEDIA_TYPE.yaml } }),
    await bounded.call('DELETE', `${CONFIG_MAPS}/small`),
  ].map(({ code }) => code);
  expect([codes, begun()]).toEqual([[201, 200, 200, 200], 0]);
});

const exchangeOf = (user: string, more: Partial<Exchange> = {}): ReturnType<typeof newExchange> =>
  newExchange({ user: { name: user, uid: '', groups: [], extra: {} }, ...more });

/** Answers on demand of the test. */
function heldThread(): {
  readonly asked: string[];
  readonly release: () => void;
  readonly begin: () => OffloadThread;
} {
  const asked: string[] = [];
  const waiting: (() => void)[] = [];
  const begin = (): OffloadThread =>
    threadBy(async ({ user, path }) => {
      asked.push(`${user.name} ${path}`);
      await new Promise<void>((resolve) => waiting.push(resolve));
      return { code: 200, headers: {}, body: Buffer.from(path) };
    });
  return { asked, release: () => waiting.shift()?.(), begin };
}

test('of one user at most one request is under way, and the others do not wait for the rest of them', async () => {
  const { asked, release, begin } = heldThread();
  const large = new Offload({ begin, counts: newOffloadCounts() });
  const answers = ['/1', '/2', '/3'].map(async (path) => large.answer(exchangeOf('a', { path })));
  answers.push(large.answer(exchangeOf('b', { path: '/4' })));
  await eventually('both users are served', () => asked.length === 2);
  expect(asked).toEqual(['a /1', 'b /4']);
  release();
  await answers[0];
  await eventually('the next one has begun', () => asked.length === 3);
  expect(asked[2]).toBe('a /2');
  let isDone = false;
  const all = Promise.all(answers).finally(() => {
    isDone = true;
  });
  await eventually('the end of all', () => {
    release();
    return isDone;
  });
  expect((await all).map(({ body }) => (body as Buffer).toString())).toEqual(['/1', '/2', '/3', '/4']);
});

test('a small body does not wait for the large ones of its user, or of many others', async () => {
  const { asked, release, begin } = heldThread();
  const large = new Offload({ begin, counts: newOffloadCounts() });
  const left: Promise<Answer>[] = [];
  const body = Buffer.alloc(3 * 1024 * 1024);
  const users = ['a', 'b', 'c', 'd', 'e'];
  for (const user of users)
    left.push(
      large.answer(exchangeOf(user, { path: '/large', readBody: async () => Promise.resolve(body) })),
    );
  await eventually('four of them run', () => asked.length === 4);
  for (const user of ['a', 'f']) left.push(large.answer(exchangeOf(user, { path: '/small' })));
  await eventually('the small ones run', () => asked.length === 6);
  expect(asked.slice(4)).toEqual(['a /small', 'f /small']);
  let isDone = false;
  const all = Promise.all(left).finally(() => {
    isDone = true;
  });
  await eventually('the end of all', () => {
    release();
    return isDone;
  });
  expect(await all).toHaveLength(7);
});

test('the queue of one user is bounded, and refusals are counted', async () => {
  const counts = newOffloadCounts();
  const large = new Offload({ begin: heldThread().begin, counts });
  const body = Buffer.alloc(3 * 1024 * 1024);
  const given = Array.from({ length: 13 }, () =>
    exchangeOf('a', { readBody: async () => Promise.resolve(body) }),
  );
  const outcomes = given.map(async (exchange) =>
    large.answer(exchange).then(
      () => 'answered',
      (error: unknown) => String(error),
    ),
  );
  await eventually('the rest is refused', () => counts.refused === 2);
  const other = exchangeOf('b');
  const others = large.answer(other).catch(String);
  for (const exchange of [...given, other]) exchange.abort(new Error('enough'));
  expect(await others).toBe('Error: enough');
  const errors = await Promise.all(outcomes);
  expect(errors.filter((text) => text.includes('too many large requests'))).toHaveLength(2);
  expect(errors.filter((text) => text === 'Error: enough')).toHaveLength(11);
});

test('a lost thread leaves the outcome unknown, and the next request begins another one', async () => {
  const held = heldThread();
  const threads: OffloadThread[] = [];
  const counts = newOffloadCounts();
  const begin = (): OffloadThread => {
    const thread = held.begin();
    threads.push(thread);
    return thread;
  };
  const large = new Offload({ begin, counts });
  const first = large.answer(exchangeOf('a', { path: '/1' })).catch((error: unknown) => error);
  await eventually('it has begun', () => held.asked.length === 1);
  await threads[0]?.end();
  expect(await first).toMatchObject({ code: 'unknown-outcome' });
  const second = large.answer(exchangeOf('a', { path: '/2' }));
  await eventually('the second has begun', () => held.asked.length === 2);
  held.release();
  held.release();
  expect(await second).toMatchObject({ code: 200 });
  expect(counts.threads).toBe(2);
});

test('an idle thread is ended', async () => {
  const threads: OffloadThread[] = [];
  const begin = (): OffloadThread => {
    const thread = threadBy(async () => Promise.resolve({ code: 200, headers: {}, body: Buffer.alloc(0) }));
    threads.push(thread);
    return thread;
  };
  const large = new Offload({ begin, counts: newOffloadCounts(), idleMsMax: 1 });
  await large.answer(exchangeOf('a'));
  await eventually('the end of the thread', () => threads[0]?.isOver === true);
  expect(threads).toHaveLength(1);
});

test('an aborted request is rejected at once, and the worker is notified', async () => {
  let reason: unknown;
  let hasBegun = false;
  const thread = threadBy(
    async ({ signal }) =>
      new Promise((_, reject) => {
        hasBegun = true;
        signal.addEventListener('abort', () => {
          reason = signal.reason;
          reject(signal.reason as Error);
        });
      }),
  );
  const exchange = exchangeOf('a');
  const { answer } = thread.answer(exchange, Buffer.alloc(0));
  await eventually('it has begun', () => hasBegun);
  exchange.abort(new Error('the deadline'));
  await expect(answer).rejects.toThrow('the deadline');
  await eventually('the thread hears of it', () => reason !== undefined);
});

test('a streamed answer comes in its pieces, and one that is left ends', async () => {
  let isClosed = false;
  async function* pieces(): AsyncGenerator<Buffer> {
    try {
      for (let at = 0; at < 3; at += 1) yield Buffer.from(String(at));
    } finally {
      isClosed = true;
    }
  }
  const thread = threadBy(async () => Promise.resolve({ code: 200, headers: { a: 'b' }, body: pieces() }));
  const { body, headers } = await thread.answer(exchangeOf('a'), Buffer.alloc(0)).answer;
  const read: string[] = [];
  for await (const piece of body as AsyncIterable<Buffer>) read.push(String(piece));
  expect([read, headers, isClosed]).toEqual([['0', '1', '2'], { a: 'b' }, true]);
  isClosed = false;
  const second = await thread.answer(exchangeOf('a'), Buffer.alloc(0)).answer;
  for await (const piece of second.body as AsyncIterable<Buffer>) if (String(piece) === '1') break;
  await eventually('the end of the other side', () => isClosed);
});

test('elements of lists are encoded in the worker, and a failure rejects', async () => {
  const large = new Offload({
    begin: () => threadBy(async () => Promise.reject(new Error('not requested'))),
    counts: newOffloadCounts(),
  });
  const element = {
    group: '',
    version: 'v1',
    resource: 'pods',
    accept: undefined,
    fields: undefined,
    isShown: false,
  };
  const { signal } = new AbortController();
  const bytes = Buffer.from('12345');
  const made = await large.element({ ...element, search: '', bytes }, signal);
  expect(made.toString()).toBe('made of 5');
  await expect(large.element({ ...element, search: 'fails', bytes }, signal)).rejects.toThrow(
    'could not be written',
  );
  await expect(large.element({ ...element, search: '', bytes }, AbortSignal.abort())).rejects.toThrow(
    'aborted',
  );
});

test('a client that leaves keeps its place until the thread is done with its request', async () => {
  const { asked, release, begin } = heldThread();
  const large = new Offload({ begin, counts: newOffloadCounts() });
  const first = exchangeOf('a', { path: '/1' });
  const left = large.answer(first).catch(String);
  await eventually('it has begun', () => asked.length === 1);
  first.abort(new Error('the client has left'));
  expect(await left).toBe('Error: the client has left');
  const second = large.answer(exchangeOf('a', { path: '/2' }));
  const other = large.answer(exchangeOf('b', { path: '/3' }));
  await eventually('the other user is served', () => asked.length === 2);
  expect(asked).toEqual(['a /1', 'b /3']);
  release();
  await eventually('the next one of the first', () => asked.length === 3);
  release();
  release();
  expect([(await second).code, (await other).code]).toEqual([200, 200]);
});

test('a worker that ends before it has started rejects its requests, and an unread stream ends', async () => {
  const { port1, port2 } = new MessageChannel();
  const end = async (): Promise<void> => Promise.resolve(port1.close());
  const thread = new OffloadThread(
    { requests: port1, end },
    { log: silentLog, counts: newOffloadCounts(), measured: () => undefined },
  );
  const { answer, over } = thread.answer(exchangeOf('a'), Buffer.alloc(0));
  port2.close();
  await expect(answer).rejects.toMatchObject({ status: { code: 503 } });
  await over;

  let isClosed = false;
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  async function* pieces(): AsyncGenerator<Buffer> {
    try {
      yield Buffer.from('a');
    } finally {
      isClosed = true;
    }
  }
  let hasBegun = false;
  const streaming = threadBy(async () => {
    hasBegun = true;
    await held;
    const body = pieces();
    await body.next();
    return { code: 200, headers: {}, body };
  });
  const exchange = exchangeOf('a');
  const handed = streaming.answer(exchange, Buffer.alloc(0));
  await eventually('it has begun', () => hasBegun);
  release();
  exchange.abort(new Error('gone'));
  await expect(handed.answer).rejects.toThrow('gone');
  await handed.over;
  expect(streaming.isOver).toBe(false);
  expect(isClosed || hasBegun).toBe(true);
});

test.each<[what: string, large: readonly object[], query: string, left: readonly string[]]>([
  ['many bytes', [{ a: 'x'.repeat(200_000) }], '?limit=11', ['c11']],
  ['many values', [keys(MANY)], '?limit=11', ['c11']],
  // The worker deletes only the rest, and the answer shows all of them.
  ['many values and one of more bytes', [keys(2_000), { a: 'x'.repeat(100_000) }], '', []],
])('deletecollection with an object of %s works as without it', async (_, large, query, expected) => {
  const { bounded, begun } = await pair();
  for (let at = 0; at < 12; at += 1) {
    const name = `c${String(at).padStart(2, '0')}`;
    const data = at < 9 ? undefined : large[at - 9];
    const body = data === undefined ? configMap(name, 2) : { ...configMap(name, 0), data };
    expect((await bounded.call('POST', CONFIG_MAPS, { body })).code).toBe(201);
  }
  const before = begun();
  const deleted = await bounded.call('DELETE', CONFIG_MAPS + query);
  const named = (deleted.json as { items: { metadata: { name: string } }[] }).items.map(
    ({ metadata }) => metadata.name,
  );
  const left = await bounded.call('GET', CONFIG_MAPS);
  const names = (left.json as { items: { metadata: { name: string } }[] }).items.map(
    ({ metadata }) => metadata.name,
  );
  expect([named.length, names, begun() - before]).toEqual([12 - expected.length, expected, 1]);
});

test('a worker that has deleted the rest of a large collection is free for the next request', async () => {
  const { bounded } = await pair();
  const largest = { ...configMap('a', 0), data: { a: 'x'.repeat(120_000) } };
  // Too many values each, and together more than one piece of a stream.
  const rest = Array.from('bcdefgh', (name) => configMap(name, 2_000));
  for (const body of [largest, ...rest]) {
    expect((await bounded.call('POST', CONFIG_MAPS, { body })).code).toBe(201);
  }
  const deleted = await bounded.call('DELETE', CONFIG_MAPS);
  expect((deleted.json as { items: readonly object[] }).items).toHaveLength(8);
  expect((await bounded.call('POST', CONFIG_MAPS, { body: configMap('i', 2_000) })).code).toBe(201);
});

test('an eviction of a large pod spends its budget once', async () => {
  const { bounded } = await pair();
  const metadata = { name: 'p', labels: { app: 'a' }, annotations: { a: 'x'.repeat(150_000) } };
  const spec = { containers: [{ name: 'c', image: 'i' }] };
  await bounded.call('POST', PODS, { body: { apiVersion: 'v1', kind: 'Pod', metadata, spec } });
  const status = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
  await bounded.call('PATCH', `${PODS}/p/status`, { body: { status } });
  const budgets = '/apis/policy/v1/namespaces/default/poddisruptionbudgets';
  const budget = { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', metadata: { name: 'b' } };
  await bounded.call('POST', budgets, {
    body: { ...budget, spec: { minAvailable: 1, selector: { matchLabels: { app: 'a' } } } },
  });
  const allowed = {
    disruptionsAllowed: 1,
    currentHealthy: 2,
    desiredHealthy: 1,
    expectedPods: 2,
    observedGeneration: 1,
  };
  await bounded.call('PATCH', `${budgets}/b/status`, { body: { status: allowed } });
  const eviction = { apiVersion: 'policy/v1beta1', kind: 'Eviction', metadata: { name: 'p' } };
  const { code, text } = await bounded.call('POST', `${PODS}/p/eviction`, { body: eviction });
  const after = await bounded.call('GET', `${budgets}/b`);
  expect([
    code,
    code === 201 ? '' : text,
    (after.json as { status: { disruptionsAllowed: number } }).status.disruptionsAllowed,
  ]).toEqual([201, '', 0]);
});

test.each([
  ['application/yaml', 200, 1],
  // Other letters are another type: nothing has to be made for it.
  ['Application/YAML', 406, 0],
])('the cost of %s is bounded like that of YAML', async (accept, expected, inThread) => {
  const { bounded, begun } = await pair();
  const body = { ...configMap('wide', 0), data: { a: 'x'.repeat(60_000) } };
  await bounded.call('POST', CONFIG_MAPS, { body });
  const before = begun();
  const { code } = await bounded.call('GET', `${CONFIG_MAPS}/wide`, { headers: { accept } });
  expect([code, begun() - before]).toEqual([expected, inThread]);
});

test('where no thread can be had the request is refused, and the next one tries again', async () => {
  const { asked, release, begin } = heldThread();
  let tries = 0;
  const large = new Offload({
    begin: () => {
      tries += 1;
      if (tries === 1) throw new Error('no thread is left');
      return begin();
    },
    counts: newOffloadCounts(),
  });
  await expect(large.answer(exchangeOf('a'))).rejects.toThrow('no thread is left');
  const second = large.answer(exchangeOf('a', { path: '/2' }));
  await eventually('the second has begun', () => asked.length === 1);
  release();
  expect(await second).toMatchObject({ code: 200 });
});

test.each([
  ['nothing', { request: false, response: false }, []],
  ['of the request', { request: true, response: false }, ['request']],
  ['everything', { request: true, response: true }, ['request', 'response']],
])('objects %s are encoded for audit only if the policy needs them', async (_, wants, expected) => {
  const made: string[] = [];
  const make = (what: string) => (): Buffer => {
    made.push(what);
    return Buffer.from(what);
  };
  const begin = (): OffloadThread =>
    threadBy(async ({ audit }) => {
      audit?.requestObject({ name: 'a' }, make('request'));
      audit?.responseObject(make('response'));
      return Promise.resolve({ code: 200, headers: {}, body: Buffer.alloc(0) });
    });
  const notes: unknown[] = [];
  const audit: AuditTrail = {
    id: 'a',
    wants,
    annotate: () => undefined,
    impersonated: () => undefined,
    requestObject: (identity, json) => notes.push(['request', identity, String(json())]),
    responseObject: (json) => notes.push(['response', json()]),
    responseStatus: () => undefined,
  };
  await new Offload({ begin, counts: newOffloadCounts() }).answer(exchangeOf('a', { audit }));
  expect(made).toEqual(expected);
  // The identity of the object is reported in any case.
  expect(notes[0]).toEqual(['request', { name: 'a' }, wants.request ? 'request' : '']);
  expect(notes.slice(1)).toEqual(wants.response ? [['response', Buffer.from('response')]] : []);
});

test('the counters of plugins in the worker are added to those of the server', async () => {
  const { alone, bounded, begun } = await pair();
  const times = ({ plane }: InProcessApi): object =>
    Object.fromEntries(
      [...plane.admissionMetrics.plugins()].map(({ labels, durations }) => [
        Object.values(labels).join(' '),
        durations.count,
      ]),
    );
  for (const api of [alone, bounded]) {
    for (const body of [configMap('small', 1), configMap('large', MANY)]) {
      expect((await api.call('POST', CONFIG_MAPS, { body })).code).toBe(201);
    }
    const body = { ...configMap('other', MANY), metadata: { name: 'other', namespace: 'missing' } };
    const refused = await api.call('POST', CONFIG_MAPS.replace('default', 'missing'), { body });
    expect(refused.code).toBe(404);
  }
  expect(begun()).toBe(2);
  expect(times(bounded)).toEqual(times(alone));
  expect(times(alone)).toMatchObject({ 'NamespaceLifecycle admit CREATE false': 2 });
});
