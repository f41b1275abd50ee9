import { GROUP } from '../../../../shared/names';
import type { Backend } from '../../../engine/storage/backend';
import { FaultyMemoryBackend } from '../../../engine/storage/testing/faulty-memory-backend';
import type { InProcessApi } from '../../../testing/in-process-api';
import { startInProcessApi } from '../../../testing/in-process-api';

const RBAC = `/apis/${GROUP.rbac}/v1`;
const PODS = '/api/v1/namespaces/default/pods';
const USER = { headers: { 'impersonate-user': 'newcomer' } };

/** A store that tells this replica nothing new, until the replica asks how far the store is. */
interface LateStore {
  readonly backend: Backend;
  hold(): void;
  /** How often it was asked for its revision while it was held. */
  readonly asked: () => number;
}

function lateStore(store: Backend): LateStore {
  let asked = 0;
  let released = Promise.resolve();
  let release = (): void => undefined;
  let isHeld = false;
  return {
    backend: {
      get: async (key, signal) => store.get(key, signal),
      list: async (prefix, options, signal) => store.list(prefix, options, signal),
      create: async (key, value, options, signal) => store.create(key, value, options, signal),
      update: async (key, value, options, signal) => store.update(key, value, options, signal),
      delete: async (key, expected, signal) => store.delete(key, expected, signal),
      compact: async (revision, signal) => store.compact(revision, signal),
      close: async () => Promise.resolve(),
      async *watch(options, signal) {
        for await (const batch of store.watch(options, signal)) {
          await released;
          yield batch;
        }
      },
      currentRevision: async (signal) => {
        if (isHeld) asked += 1;
        const revision = await store.currentRevision(signal);
        release();
        return revision;
      },
    },
    hold: () => {
      isHeld = true;
      released = new Promise((resolve) => {
        release = () => {
          isHeld = false;
          resolve();
        };
      });
    },
    asked: () => asked,
  };
}

let early: InProcessApi;
let late: InProcessApi;
let store: LateStore;

beforeEach(async () => {
  const shared = new FaultyMemoryBackend();
  early = await startInProcessApi(shared, { authorizationModes: ['RBAC'] });
  store = lateStore(shared);
  late = await startInProcessApi(store.backend, { authorizationModes: ['RBAC'] });
});
afterEach(async () => {
  await late.close();
  await early.close();
});

async function write(method: string, path: string, body?: object): Promise<void> {
  const { code, text } = await early.call(method, `${RBAC}${path}`, { body });
  if (code >= 300) throw new Error(text);
}

async function bind(): Promise<void> {
  const rules = [{ verbs: ['list'], apiGroups: [''], resources: ['pods'] }];
  await write('POST', '/clusterroles', { metadata: { name: 'reader' }, rules });
  await write('POST', '/clusterrolebindings', {
    metadata: { name: 'readers' },
    roleRef: { apiGroup: GROUP.rbac, kind: 'ClusterRole', name: 'reader' },
    subjects: [{ apiGroup: GROUP.rbac, kind: 'User', name: 'newcomer' }],
  });
}

test('a user with a new role is allowed by a replica that has not seen it yet', async () => {
  expect((await late.call('GET', PODS, USER)).code).toBe(403);
  store.hold();
  await bind();
  expect((await late.call('GET', PODS, USER)).code).toBe(200);
  expect(store.asked()).toBeGreaterThan(0);
});

test('a review there says the same', async () => {
  store.hold();
  await bind();
  const resourceAttributes = { verb: 'list', resource: 'pods', namespace: 'default' };
  const { json } = await late.call('POST', `/apis/${GROUP.authorization}/v1/subjectaccessreviews`, {
    body: { spec: { user: 'newcomer', resourceAttributes } },
  });
  expect(json.status).toMatchObject({ allowed: true });
});

test('a refusal is final once the replica has seen every earlier write', async () => {
  store.hold();
  await bind();
  await write('DELETE', '/clusterrolebindings/readers');
  expect((await late.call('GET', PODS, USER)).code).toBe(403);
  expect(store.asked()).toBeGreaterThan(0);
  expect(late.plane.cache.revision).toBe(early.plane.cache.revision);
});
