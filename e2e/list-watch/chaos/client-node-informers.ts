/**
 * A program: informers of `@kubernetes/client-node`, each with a journal, restarted after errors as its documentation says. See
 * `informer-program.ts` for its messages.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { KubernetesListObject, KubernetesObject } from '@kubernetes/client-node';
import { AppsV1Api, CoreV1Api, KubeConfig, ListWatch, Watch } from '@kubernetes/client-node';
import type { InformerTarget, TestedInformer } from './informer-program';
import { runInformerProgram } from './informer-program';
import { cachedObject, Journal, reportOf } from './journal';
import type { View } from './views';
import { labelSelectorOf, pathOf } from './views';

const RESTART_DELAY_MS = 100;

runInformerProgram((view: View, target: InformerTarget, base: number): TestedInformer => {
  const journal = new Journal(base);
  const config = new KubeConfig();
  config.loadFromFile(target.kubeconfig);
  const watch = new JournalledWatch(config, journal);
  const list = listerOf(config, view);
  const listed = async (): Promise<KubernetesListObject<KubernetesObject>> => {
    const answer = await list();
    journal.listed(answer.metadata?.resourceVersion);
    // Until the next watch begins, events come from the list.
    watch.isOpening = false;
    return answer;
  };
  const path = pathOf(view, view.namespace);
  const informer = new ListWatch<KubernetesObject>(path, watch, listed, false, labelSelectorOf(view));
  for (const type of ['add', 'update', 'delete'] as const) {
    informer.on(type, (object) => {
      journal.observe(type, object, !watch.isOpening);
    });
  }
  /** As in the examples of the library: restarts after an error from the last known version. */
  const restart = (error: unknown): void => {
    journal.failed(String(error));
    void startAgain();
  };
  let isRestarting = false;
  const startAgain = async (): Promise<void> => {
    if (isRestarting) return;
    isRestarting = true;
    await delay(RESTART_DELAY_MS);
    isRestarting = false;
    await informer.start();
  };
  informer.on('error', restart);
  const started = informer.start();
  return {
    view,
    journal,
    whenSynced: async () => started,
    report: () =>
      reportOf(journal, {
        view: view.id,
        informer: `client-node, ${target.name}`,
        // Its lists convert values to dates and classes that its watches leave as JSON, so that digests would differ.
        objects: informer.list().map((object) => cachedObject(object, false)),
      }),
  };
});

/** The watch of the library, with the journal as observer. */
class JournalledWatch extends Watch {
  /** Whether a watch has started since the last list. */
  isOpening = false;
  readonly #journal: Journal;

  constructor(config: KubeConfig, journal: Journal) {
    super(config);
    this.#journal = journal;
  }

  override async watch(
    ...[path, query, callback, done]: Parameters<Watch['watch']>
  ): Promise<AbortController> {
    const check = this.#journal.watch(query['resourceVersion'] as string | undefined);
    this.isOpening = true;
    return super.watch(
      path,
      query,
      (type: string, object: KubernetesObject, event: unknown) => {
        if (type === 'ERROR') this.#journal.failed(`ERROR event ${JSON.stringify(object)}`);
        else check(type, object);
        callback(type, object, event);
      },
      done,
    );
  }
}

function listerOf(config: KubeConfig, view: View): () => Promise<KubernetesListObject<KubernetesObject>> {
  const core = config.makeApiClient(CoreV1Api);
  const apps = config.makeApiClient(AppsV1Api);
  const labelSelector = labelSelectorOf(view);
  const selection = labelSelector === undefined ? {} : { labelSelector };
  const { namespace } = view;
  const here = namespace === undefined ? undefined : { namespace, ...selection };
  switch (view.resource) {
    case 'configmaps':
      return async () =>
        here === undefined
          ? core.listConfigMapForAllNamespaces(selection)
          : core.listNamespacedConfigMap(here);
    case 'secrets':
      return async () =>
        here === undefined ? core.listSecretForAllNamespaces(selection) : core.listNamespacedSecret(here);
    case 'pods':
      return async () =>
        here === undefined ? core.listPodForAllNamespaces(selection) : core.listNamespacedPod(here);
    case 'nodes':
      return async () => core.listNode(selection);
    case 'deployments':
      return async () =>
        here === undefined
          ? apps.listDeploymentForAllNamespaces(selection)
          : apps.listNamespacedDeployment(here);
    default:
      throw new Error(`no list function for ${view.resource}`);
  }
}
