import { createPolicyHook } from '../../apiserver/startup/bootstrap/policy-hook';
import type { InProcessApi, Reply } from '../../apiserver/testing/in-process-api';
import { startInProcessApi } from '../../apiserver/testing/in-process-api';
import type { Client } from '../../shared/client/client';
import type { WatchEvent } from '../../shared/client/options';
import { queryString, resourcePath } from '../../shared/client/resource-path';
import { statusErrorFromAnswer } from '../../shared/client/status';
import { linkedAbort } from '../../shared/concurrency/linked-abort';
import { createWorkQueue } from '../../shared/concurrency/work-queue';
import { silentLog } from '../../shared/log/log';
import { GROUP, NAMESPACE } from '../../shared/names';
import { patience } from '../../shared/testing/eventually';
import { runRoleAggregation } from './role-aggregation';

const ROLES = `/apis/${GROUP.rbac}/v1/clusterroles`;
const ACCOUNT = `system:serviceaccount:${NAMESPACE.system}:clusterrole-aggregation-controller`;
const rule = (...verbs: string[]): object => ({ verbs, apiGroups: ['example.com'], resources: ['widgets'] });
const GATHERING = { clusterRoleSelectors: [{ matchLabels: { gathered: 'yes' } }] };

let api: InProcessApi;
let stop: ReturnType<typeof linkedAbort>;
let running: Promise<void> | undefined;

/** A server where roles decide, with those that every cluster has. */
async function start(serverSideApply: boolean): Promise<void> {
  stop = linkedAbort(new AbortController().signal);
  api = await startInProcessApi(undefined, { authorizationModes: ['RBAC'], serverSideApply });
  const { store, registry } = api.plane;
  await createPolicyHook({ store, registry, log: silentLog }).run(stop.signal);
}

function runController(): void {
  const client = clientOf(api);
  const options = { concurrentNamespaceSyncs: 1, namespaceSyncPeriodMs: 60_000, concurrentGcSyncs: 1 };
  running = runRoleAggregation(
    { client, reader: client, log: silentLog, options, createQueue: createWorkQueue },
    stop.signal,
  );
}

afterEach(async () => {
  stop.abort(new Error('the test is over'));
  await running;
  running = undefined;
  await api.close();
});

/** As much of a client as the controller uses, acting as its service account. */
function clientOf(server: InProcessApi): Client {
  const call = async (
    method: string,
    url: string,
    body?: unknown,
    type = 'application/json',
  ): Promise<never> => {
    const headers = { 'impersonate-user': ACCOUNT, 'content-type': type };
    const { code, json, text } = await server.call(method, url, { body, headers });
    if (code >= 300) throw statusErrorFromAnswer({ code, text });
    return json as never;
  };
  const client: Partial<Client> = {
    listAll: async (resource) => call('GET', resourcePath(resource, {})),
    watch: (resource, { resourceVersion, signal = new AbortController().signal } = {}) =>
      server.watch(
        resourcePath(resource, {}) + queryString({ watch: true, resourceVersion }),
        signal,
      ) as AsyncIterable<WatchEvent<never>>,
    patch: async (resource, ref, { contentType, body, force }, { fieldManager } = {}) =>
      call('PATCH', resourcePath(resource, ref) + queryString({ fieldManager, force }), body, contentType),
    update: async (resource, object) =>
      call('PUT', resourcePath(resource, { name: object.metadata.name ?? '' }), object),
  };
  return client as Client;
}

async function write(method: string, path: string, body: object): Promise<Reply['json']> {
  const { code, json, text } = await api.call(method, path, { body });
  if (code >= 300) throw new Error(text);
  return json;
}

async function gathered(name: string, rules: readonly object[]): Promise<void> {
  await write('POST', ROLES, { metadata: { name, labels: { gathered: 'yes' } }, rules });
}

/** The role `whole`, once its rules are these. */
async function whole(rules: readonly object[]): Promise<Reply['json']> {
  const wanted = JSON.stringify(rules);
  const url = `${ROLES}?watch=1&fieldSelector=metadata.name%3Dwhole`;
  const limit = patience();
  for await (const { object } of api.watch(url, limit)) {
    if (JSON.stringify(object['rules'] ?? []) === wanted) return object;
  }
  throw new Error('the watch has ended');
}

test('a role has the rules of all that it gathers, in the order of their names, as long as they are there', async () => {
  await start(true);
  await write('POST', ROLES, { metadata: { name: 'whole' }, rules: null, aggregationRule: GATHERING });
  await gathered('b', [rule('list'), rule('get')]);
  runController();
  await whole([rule('list'), rule('get')]);
  await gathered('a', [rule('watch'), rule('get')]);
  const { metadata } = await whole([rule('watch'), rule('get'), rule('list')]);
  expect(metadata.managedFields).toContainEqual(
    expect.objectContaining({
      manager: 'clusterrole-aggregation-controller',
      operation: 'Apply',
      fieldsV1: { 'f:rules': {} },
    }),
  );
  await write('PATCH', `${ROLES}/b`, { metadata: { labels: { gathered: 'no' } } });
  await whole([rule('watch'), rule('get')]);
  await api.call('DELETE', `${ROLES}/a`);
  await whole([]);
});

test('rules that somebody writes into a role that gathers are taken out again', async () => {
  await start(true);
  await gathered('a', [rule('get')]);
  const own = { metadata: { name: 'whole' }, rules: [rule('delete')], aggregationRule: GATHERING };
  await write('POST', ROLES, own);
  runController();
  await whole([rule('get')]);
  await write('PATCH', `${ROLES}/whole`, { rules: [rule('delete')] });
  expect((await whole([rule('get')])).metadata.name).toBe('whole');
});

test('roles that gather each other come to an end', async () => {
  await start(true);
  const labels = { gathered: 'yes' };
  await write('POST', ROLES, { metadata: { name: 'whole', labels }, rules: [], aggregationRule: GATHERING });
  await write('POST', ROLES, { metadata: { name: 'other', labels }, rules: [], aggregationRule: GATHERING });
  await gathered('a', [rule('get')]);
  runController();
  expect((await whole([rule('get')])).metadata.name).toBe('whole');
});

test('without server-side apply the rules are updated', async () => {
  await start(false);
  await write('POST', ROLES, { metadata: { name: 'whole' }, rules: [], aggregationRule: GATHERING });
  await gathered('a', [rule('get')]);
  runController();
  expect((await whole([rule('get')])).metadata.name).toBe('whole');
});

test('a role that has gone meanwhile is not made again', async () => {
  await start(true);
  await write('POST', ROLES, { metadata: { name: 'whole' }, rules: [], aggregationRule: GATHERING });
  await gathered('a', [rule('get')]);
  const call = api.call.bind(api);
  let patched: (() => void) | undefined;
  const tried = new Promise<void>((resolve) => {
    patched = resolve;
  });
  api.call = async (method, url, options) => {
    if (method === 'PATCH' && url.startsWith(`${ROLES}/whole`)) {
      await call('DELETE', `${ROLES}/whole`);
      const reply = await call(method, url, options);
      patched?.();
      return reply;
    }
    return call(method, url, options);
  };
  runController();
  await tried;
  expect((await call('GET', `${ROLES}/whole`)).code).toBe(404);
});

test('the roles that users are given have what the server brings along for them', async () => {
  await start(true);
  runController();
  // From `view` by way of `edit`, and from `edit`.
  expect(await resourcesOfAdmin()).toEqual(
    expect.arrayContaining(['rolebindings', 'pods/log', 'deployments']),
  );
});

/** What the role `admin` is about, once it has gathered what it gathers. */
async function resourcesOfAdmin(): Promise<readonly string[]> {
  const limit = patience();
  const url = `${ROLES}?watch=1&fieldSelector=metadata.name%3Dadmin`;
  for await (const { object } of api.watch(url, limit)) {
    const rules = (object['rules'] ?? []) as readonly { readonly resources: readonly string[] }[];
    const resources = new Set(rules.flatMap((each) => each.resources));
    if (resources.size > 40) return [...resources];
  }
  throw new Error('the watch has ended');
}
