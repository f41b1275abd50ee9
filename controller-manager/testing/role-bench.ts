import type { IncomingHttpHeaders } from 'node:http';
import { createPolicyHook } from '../../apiserver/kubernetes/bootstrap/policy-hook';
import type { InProcessApi, Reply } from '../../apiserver/testing/in-process-api';
import { startInProcessApi } from '../../apiserver/testing/in-process-api';
import type { Client } from '../../shared/client/client';
import { withKinds } from '../../shared/client/client';
import type { ApiList, WatchEvent } from '../../shared/client/options';
import { queryString, resourcePath } from '../../shared/client/resource-path';
import { statusErrorFromAnswer } from '../../shared/client/status';
import { systemClock } from '../../shared/concurrency/clock';
import { linkedAbort } from '../../shared/concurrency/linked-abort';
import { createWorkQueue } from '../../shared/concurrency/work-queue';
import { defined } from '../../shared/defined';
import type { Log } from '../../shared/log/log';
import { silentLog } from '../../shared/log/log';
import type { ApiObject } from '../../shared/object/object';
import { NAMESPACE, USER } from '../../shared/names';
import { patience } from '../../shared/testing/eventually';
import type { Controller, ControllerContext } from '../runtime/controller';
import type { ControllerOptions } from '../runtime/controller-options';
import type { SharedInformers } from '../runtime/shared-informers';
import { createSharedInformers } from '../runtime/shared-informers';

/**
 * A real server in memory with RBAC, and a controller with only the permissions of the default policy. The preferred harness, unless a
 * test needs the fake API server of `bench.ts`.
 */
export interface RoleBench {
  readonly api: InProcessApi;
  /** Write requests of controllers, in order. */
  readonly writes: readonly string[];
  /** Sends a request as a superuser or as a user with groups; throws for an error response. */
  readonly call: (method: string, url: string, body?: object, as?: BenchUser) => Promise<ApiObject>;
  /** Returns a client that acts as a user. */
  readonly clientAs: (user: BenchUser) => Client;
  readonly run: (run: Run, account: Controller['account'], options?: Partial<ControllerOptions>) => void;
  /** Resolves with the object of this name once the condition holds; undefined stands for an absent object. */
  readonly when: <T extends ApiObject>(
    collection: string,
    name: string,
    holds: (object: T | undefined) => boolean,
  ) => Promise<T | undefined>;
  readonly close: () => Promise<void>;
}

export interface BenchUser {
  readonly name: string;
  readonly groups?: readonly string[];
}

/** Changed behaviour of the server. */
export type RoleBenchServer = Pick<
  NonNullable<Parameters<typeof startInProcessApi>[1]>,
  'services' | 'serverSideApply' | 'kindSettings' | 'runtimeConfig'
>;

type Run = (context: ControllerContext, signal: AbortSignal) => Promise<void>;

const OPTIONS: ControllerOptions = {
  concurrentNamespaceSyncs: 1,
  namespaceSyncPeriodMs: 60_000,
  concurrentGcSyncs: 1,
  resourceQuotaSyncPeriodMs: 300_000,
};

export async function createRoleBench(
  log: Log = silentLog,
  server: RoleBenchServer = {},
): Promise<RoleBench> {
  const stop = linkedAbort(new AbortController().signal);
  const api = await startInProcessApi(undefined, { ...server, authorizationModes: ['RBAC'] });
  const { store, registry } = api.plane;
  const { kindSettings } = server;
  const policy = { store, registry, log: silentLog, ...defined({ kindSettings }) };
  await createPolicyHook(policy).run(stop.signal);
  const running: Promise<void>[] = [];
  const writes: string[] = [];
  const refusals: string[] = [];
  const calls = { writes, refusals };
  let informers: SharedInformers | undefined;
  const call: RoleBench['call'] = async (method, url, body, as) =>
    checked(await api.call(method, url, { body, ...(as === undefined ? {} : { headers: actingAs(as) }) }));
  return {
    api,
    writes,
    call,
    clientAs: (user) => clientOf(api, user, calls),
    run: (run, account, options = {}) => {
      const name =
        account === undefined
          ? USER.controllerManager
          : `system:serviceaccount:${NAMESPACE.system}:${account}`;
      const client = clientOf(api, { name }, calls);
      const reader = clientOf(api, { name: USER.controllerManager }, calls);
      running.push(
        run(
          {
            client,
            reader,
            informers: (informers ??= createSharedInformers({ client: reader, log }, stop.signal)),
            log,
            options: { ...OPTIONS, ...options },
            createQueue: createWorkQueue,
            clock: systemClock,
          },
          stop.signal,
        ),
      );
    },
    when: async <T extends ApiObject>(
      collection: string,
      name: string,
      holds: (object: T | undefined) => boolean,
    ) => {
      const query = { fieldSelector: `metadata.name=${name}` };
      const { items, metadata } = (await call(
        'GET',
        collection + queryString(query),
      )) as unknown as ApiList<T>;
      if (holds(items[0])) return items[0];
      const { resourceVersion } = metadata;
      const url = collection + queryString({ ...query, watch: true, resourceVersion });
      for await (const { type, object } of api.watch(url, patience())) {
        const now = type === 'DELETED' ? undefined : (object as unknown as T);
        if (holds(now)) return now;
      }
      const refused =
        refusals.length === 0 ? '' : `; the server refused ${refusals.slice(-REFUSALS_SHOWN_MAX).join(', ')}`;
      throw new Error(`${collection}/${name} did not meet the condition in time${refused}`);
    },
    close: async () => {
      stop.abort(new Error('the test is over'));
      await Promise.all(running);
      await api.close();
    },
  };
}

function actingAs({ name, groups = [] }: BenchUser): IncomingHttpHeaders {
  return { 'impersonate-user': name, 'impersonate-group': [...groups] };
}

function checked({ code, text, json }: Reply): ApiObject {
  if (code >= 300) throw statusErrorFromAnswer({ code, text });
  return json as ApiObject;
}

interface Calls {
  /** Writes that succeeded. */
  readonly writes: string[];
  /** Requests without the right to make them. */
  readonly refusals: string[];
}

const FORBIDDEN = 403;
const REFUSALS_SHOWN_MAX = 3;

/** The part of a client that controllers use, acting as a user. */
function clientOf(api: InProcessApi, user: BenchUser, { writes, refusals }: Calls): Client {
  const call = async (
    method: string,
    url: string,
    body?: unknown,
    { contentType, accept }: { readonly contentType?: string; readonly accept?: string | undefined } = {},
  ): Promise<never> => {
    const headers = {
      ...actingAs(user),
      ...(contentType === undefined ? {} : { 'content-type': contentType }),
      ...(accept === undefined ? {} : { accept }),
    };
    const reply = await api.call(method, url, { body, headers });
    if (reply.code === FORBIDDEN) refusals.push(`${method} ${url} of ${user.name}`);
    const answer = checked(reply);
    if (method !== 'GET') writes.push(`${method} ${url}`);
    return answer as never;
  };
  const client: Partial<Client> = {
    getJson: async (path) => call('GET', path),
    get: async (resource, ref, { accept, subresource } = {}) =>
      call('GET', resourcePath(resource, { ...ref, subresource }), undefined, { accept }),
    listAll: async (resource, { namespace, fieldSelector, accept } = {}) =>
      withKinds(
        await call('GET', resourcePath(resource, { namespace }) + queryString({ fieldSelector }), undefined, {
          accept,
        }),
      ),
    deleteCollection: async (resource, { namespace }, options) =>
      call('DELETE', resourcePath(resource, { namespace }), options),
    watch: (resource, { namespace, fieldSelector, resourceVersion, accept, signal, onOpen } = {}) => {
      onOpen?.();
      return api.watch(
        resourcePath(resource, { namespace }) + queryString({ watch: true, fieldSelector, resourceVersion }),
        signal ?? new AbortController().signal,
        { ...actingAs(user), ...(accept === undefined ? {} : { accept }) },
      ) as AsyncIterable<WatchEvent<never>>;
    },
    create: async (resource, object) =>
      call('POST', resourcePath(resource, { namespace: object.metadata.namespace }), object),
    update: async (resource, object, { subresource } = {}) =>
      call('PUT', resourcePath(resource, { ...placeOf(object), subresource }), object),
    createSubresource: async (resource, ref, object) => call('POST', resourcePath(resource, ref), object),
    patch: async (resource, ref, { contentType, body, force }, { fieldManager, subresource } = {}) =>
      call(
        'PATCH',
        resourcePath(resource, { ...ref, subresource }) + queryString({ fieldManager, force }),
        body,
        {
          contentType,
        },
      ),
    updateStatus: async (resource, object) =>
      call('PUT', resourcePath(resource, { ...placeOf(object), subresource: 'status' }), object),
    delete: async (resource, ref, options) => call('DELETE', resourcePath(resource, ref), options),
  };
  return client as Client;
}

function placeOf({ metadata }: ApiObject): { readonly namespace: string | undefined; readonly name: string } {
  return { namespace: metadata.namespace, name: metadata.name ?? '' };
}
