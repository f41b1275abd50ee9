import { RESOURCE } from '../../shared/api/resource-names';
import type { Deployment, ReplicaSet } from '../../shared/api/types/apps-v1';
import type { Pod } from '../../shared/api/types/core-v1';
import type { Clock } from '../../shared/concurrency/clock';
import type { Requeue } from '../../shared/concurrency/work-loop';
import { keyOfObject } from '../../shared/informer/store';
import { matchesLabels, toLabelSelector } from '../../shared/meta/labels';
import { candidatesOf, claimChildren, PARENT, selectorReader, watchChildren } from '../pods/children';
import type { ControllerContext } from '../runtime/controller';
import { hasFeature } from '../runtime/controller-options';
import { EventRecorder } from '../runtime/event-recorder';
import { runInformedLoop } from '../runtime/informed-loop';
import { ownerOf } from '../runtime/owner';
import { INDEX } from '../runtime/shared-informers';
import { DeploymentState } from './deployment-state';
import { Rollout } from './rollout';

const WORKERS = 5;

/** Rolls out the pod template of every Deployment by ReplicaSets. */
export async function runDeployments(
  context: ControllerContext,
  signal: AbortSignal,
  clock: Clock = context.clock,
): Promise<void> {
  const { log, client, informers, options, createQueue } = context;
  const queue = createQueue();
  const recorder = new EventRecorder({ client, clock, log });
  const report = recorder.reporterFor('deployment-controller');
  const deployments = informers.of(RESOURCE.deployments);
  const sets = informers.of(RESOURCE.replicasets);
  const pods = informers.of(RESOURCE.pods);
  const selectorOf = selectorReader(({ spec }: Deployment) => toLabelSelector(spec.selector));
  const enqueue = (deployment: Deployment): void => queue.add(keyOfObject(deployment));
  deployments.addHandler({ onAdd: enqueue, onUpdate: (_before, after) => enqueue(after), onDelete: enqueue });
  watchChildren({
    children: sets,
    parents: deployments,
    kind: PARENT.deployments.kind,
    queue,
    selectorOf,
  });
  // The strategy Recreate waits for the last pod of the old sets; all other changes of pods are in the status of a set.
  pods.addHandler({
    onDelete: (pod) => {
      const set = ownedBy(pod, 'ReplicaSet', (key) => sets.store.get(key));
      const deployment = set && ownedBy(set, 'Deployment', (key) => deployments.store.get(key));
      if (deployment?.spec.strategy.type === 'Recreate') enqueue(deployment);
    },
  });

  const reportsTerminating = hasFeature(options, 'DeploymentReplicaSetTerminatingReplicas');
  const reconcile = async (key: string, stop: AbortSignal): Promise<Requeue | undefined> => {
    const deployment = deployments.store.get(key);
    if (deployment === undefined) return undefined;
    const selector = selectorOf(deployment);
    // An empty selector, which validation refuses, would take over every ReplicaSet of the namespace.
    if (selector.length === 0) return undefined;
    const owned = await claimChildren<Deployment, ReplicaSet>(
      {
        client,
        parent: deployment,
        parentResource: PARENT.deployments,
        childResource: RESOURCE.replicasets,
        matches: ({ metadata }) => matchesLabels(selector, metadata.labels),
      },
      candidatesOf(sets, deployment),
      stop,
    );
    const podsOf = ({ metadata }: ReplicaSet): readonly Pod[] =>
      pods.store.byIndex(INDEX.controller, metadata.uid ?? '');
    const state = new DeploymentState(
      { client, clock, report, reportsTerminating },
      { deployment, sets: owned },
    );
    return new Rollout(state, podsOf).run(stop);
  };

  await runInformedLoop(
    {
      informers: [deployments, sets, pods],
      queue,
      workers: options.concurrentDeploymentSyncs ?? WORKERS,
      log,
      reconcile,
      recorder,
    },
    signal,
  );
}

/** Returns the owner of the object if it is of this kind and still the same. */
function ownedBy<T extends Deployment | ReplicaSet>(
  object: Pod | ReplicaSet,
  kind: string,
  get: (key: string) => T | undefined,
): T | undefined {
  const owner = ownerOf(object);
  if (owner?.kind !== kind) return undefined;
  const found = get(`${object.metadata.namespace ?? ''}/${owner.name}`);
  return found?.metadata.uid === owner.uid ? found : undefined;
}
