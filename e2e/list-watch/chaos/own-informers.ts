/** A program: informers of `shared/informer`, each with a journal. See `informer-program.ts` for its messages. */
import type { Client } from '../../../shared/client/client';
import { createClient } from '../../../shared/client/client';
import type { ListOptions, WatchOptions } from '../../../shared/client/options';
import { loadKubeconfig } from '../../../shared/client/kubeconfig';
import { StatusError } from '../../../shared/errors/status-error';
import { createInformer } from '../../../shared/informer/informer';
import type { ApiObject, ResourceOf } from '../../../shared/object/object';
import { patience } from '../../../shared/testing/eventually';
import type { InformerTarget, TestedInformer } from './informer-program';
import { runInformerProgram } from './informer-program';
import { cachedObject, Journal, reportOf } from './journal';
import type { View } from './views';
import { labelSelectorOf } from './views';

const RETRY = { initialMs: 50, maxMs: 1_000 };

runInformerProgram((view: View, target: InformerTarget, base: number): TestedInformer => {
  const journal = new Journal(base);
  const { client } = loadKubeconfig({ path: target.kubeconfig });
  const informer = createInformer({
    client: watched(createClient(client), journal),
    resource: { group: view.group, version: view.version, resource: view.resource },
    namespace: view.namespace,
    labelSelector: labelSelectorOf(view),
    retry: RETRY,
  });
  informer.addHandler({
    onAdd: (object) => {
      journal.observe('add', object, false);
    },
    onUpdate: (_before, object) => {
      journal.observe('update', object, false);
    },
    onDelete: (object, { isStale }) => {
      journal.observe('delete', object, isStale);
    },
  });
  void informer.run(new AbortController().signal);
  return {
    view,
    journal,
    whenSynced: async () => informer.whenSynced(patience()),
    report: () =>
      reportOf(journal, {
        view: view.id,
        informer: `own, ${target.name}`,
        objects: informer.store.list().map((object) => cachedObject(object, true)),
      }),
  };
});

/** The client of the informer, with the journal as observer. */
function watched(client: Client, journal: Journal): Client {
  return {
    ...client,
    listAll: async <T extends ApiObject>(resource: ResourceOf<T>, options?: ListOptions) => {
      const list = await client.listAll(resource, options);
      journal.listed(list.metadata.resourceVersion);
      return list;
    },
    async *watch<T extends ApiObject>(resource: ResourceOf<T>, options?: WatchOptions) {
      const check = journal.watch(options?.resourceVersion);
      try {
        for await (const event of client.watch(resource, options)) {
          check(event.type, event.object);
          yield event;
        }
      } catch (error) {
        journal.failed(
          error instanceof StatusError
            ? `${String(error.status.code)} ${error.status.message ?? ''}`
            : 'broken connection',
        );
        throw error;
      }
    },
  };
}
