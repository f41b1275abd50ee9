import type { Client } from '../../shared/client/client';
import { createClient } from '../../shared/client/client';
import type { FakeApiServer } from '../../shared/client/testing/fake-api-server';
import { createFakeApiServer } from '../../shared/client/testing/fake-api-server';
import type { FakeResource } from '../../shared/client/testing/fake-resources';
import { NAMESPACES } from '../../shared/client/testing/fake-resources';
import { systemClock } from '../../shared/concurrency/clock';
import { linkedAbort } from '../../shared/concurrency/linked-abort';
import { createWorkQueue } from '../../shared/concurrency/work-queue';
import { defined } from '../../shared/defined';
import { silentLog } from '../../shared/log/log';
import type { ApiObject, OwnerReference } from '../../shared/object/object';
import { apiVersionOf } from '../../shared/object/object';
import { PATIENCE_MS } from '../../shared/testing/eventually';
import type { ControllerContext } from '../runtime/controller';
import { createSharedInformers } from '../runtime/shared-informers';

/**
 * A fake API server with a controller that runs against it over HTTP, for tests that break requests on purpose or serve resources that do
 * not exist. It has no roles, validation or admission; `role-bench.ts` has the real server.
 */
export interface Bench {
  readonly server: FakeApiServer;
  readonly client: Client;
  readonly make: (resource: FakeResource, name: string, more?: MadeObject) => ApiObject;
  readonly find: (resource: FakeResource, name: string) => ApiObject | undefined;
  /** Resolves once the condition holds; checked after every write. */
  readonly until: (holds: () => boolean) => Promise<void>;
  readonly run: (controller: (context: ControllerContext, signal: AbortSignal) => Promise<void>) => void;
  readonly close: () => Promise<void>;
}

export interface MadeObject {
  readonly owners?: readonly OwnerReference[];
  readonly finalizers?: readonly string[];
  readonly spec?: object;
}

export const TEST_NAMESPACE = 'team';

export async function createBench(): Promise<Bench> {
  const server = await createFakeApiServer();
  const client = createClient({ server: server.url, timeoutMs: PATIENCE_MS });
  const stop = linkedAbort(new AbortController().signal);
  const running: Promise<void>[] = [];
  const { store } = server;
  store.create(
    { resource: NAMESPACES, namespace: '', name: TEST_NAMESPACE },
    { metadata: { name: TEST_NAMESPACE } },
  );
  const placeOf = (resource: FakeResource, name: string) => ({
    resource,
    namespace: resource.namespaced ? TEST_NAMESPACE : '',
    name,
  });
  return {
    server,
    client,
    make: (resource, name, { owners, finalizers, spec } = {}) =>
      store.create(placeOf(resource, name), {
        metadata: {
          ...defined({ ownerReferences: owners, finalizers }),
        },
        ...defined({ spec }),
      }),
    find: (resource, name) => store.find(placeOf(resource, name)),
    until: async (holds) =>
      new Promise((resolve) => {
        const check = (): void => {
          if (!holds()) return;
          store.changes.off('events', check);
          resolve();
        };
        store.changes.on('events', check);
        check();
      }),
    run: (controller) => {
      const options = { concurrentNamespaceSyncs: 2, namespaceSyncPeriodMs: 60_000, concurrentGcSyncs: 2 };
      const informers = createSharedInformers({ client, log: silentLog }, stop.signal);
      running.push(
        controller(
          {
            client,
            reader: client,
            informers,
            log: silentLog,
            options,
            createQueue: createWorkQueue,
            clock: systemClock,
          },
          stop.signal,
        ),
      );
    },
    close: async () => {
      stop.abort(new Error('the test is over'));
      await Promise.all(running);
      client.close();
      await server.close();
    },
  };
}

/** Returns a blocking owner reference to this object. */
export function ownedBy(
  resource: FakeResource,
  { metadata }: ApiObject,
  blockOwnerDeletion = true,
): OwnerReference {
  return {
    apiVersion: apiVersionOf(resource),
    kind: resource.kind,
    name: metadata.name ?? '',
    uid: metadata.uid ?? '',
    blockOwnerDeletion,
  };
}
