import { RESOURCE } from '../../shared/api/resource-names';
import type { ClusterRole, PolicyRule } from '../../shared/api/types/rbac-v1';
import type { Client } from '../../shared/client/client';
import { hasCode } from '../../shared/client/status';
import { createInformer } from '../../shared/informer/informer';
import { deepEqual } from '../../shared/object/clone';
import { apiVersionOf } from '../../shared/object/object';
import { MEDIA_TYPE } from '../../shared/names';
import type { ControllerContext } from '../runtime/controller';
import { runInformedLoop } from '../runtime/informed-loop';
import { aggregatedRules } from './aggregated-rules';
const WORKERS = 5;
/** The index of aggregated roles, and its only value. */
const GATHERING = 'gathering';
const FIELD_MANAGER = 'clusterrole-aggregation-controller';

/** Keeps the rules of aggregated cluster roles. */
export async function runRoleAggregation(
  { client, log, createQueue }: ControllerContext,
  signal: AbortSignal,
): Promise<void> {
  const queue = createQueue();
  const roles = createInformer({
    client,
    resource: RESOURCE.clusterroles,
    log,
    indexers: { [GATHERING]: ({ aggregationRule }) => (aggregationRule === undefined ? [] : [GATHERING]) },
  });
  // Any role may be selected by an aggregated one, or may have been; there are few aggregated roles.
  const enqueueAll = (): void => {
    for (const { metadata } of roles.store.byIndex(GATHERING, GATHERING)) queue.add(metadata.name ?? '');
  };
  roles.addHandler({ onAdd: enqueueAll, onUpdate: enqueueAll, onDelete: enqueueAll });

  const reconcile = async (name: string, stop: AbortSignal): Promise<undefined> => {
    const role = roles.store.get(name);
    if (role?.aggregationRule === undefined) return;
    const rules = aggregatedRules(role, roles.store.list());
    if (deepEqual(rules, role.rules ?? [])) return;
    await writeRules(client, { role, rules }, stop);
  };

  await runInformedLoop({ informers: [roles], queue, workers: WORKERS, log, reconcile }, signal);
}

/** Applies the rules and owns nothing else; without server-side apply it updates. */
async function writeRules(
  client: Client,
  { role, rules }: { readonly role: ClusterRole; readonly rules: readonly PolicyRule[] },
  signal: AbortSignal,
): Promise<void> {
  const { name = '' } = role.metadata;
  const body = {
    apiVersion: apiVersionOf(RESOURCE.clusterroles),
    kind: 'ClusterRole',
    metadata: { name, uid: role.metadata.uid },
    rules,
  };
  try {
    await client.patch(
      RESOURCE.clusterroles,
      { name },
      { contentType: MEDIA_TYPE.applyPatch, body, force: true },
      { fieldManager: FIELD_MANAGER, signal },
    );
  } catch (error) {
    if (hasCode(error, 415)) await client.update(RESOURCE.clusterroles, { ...role, rules }, { signal });
    // A deleted or replaced role has its own event.
    else if (!hasCode(error, 404, 409)) throw error;
  }
}
