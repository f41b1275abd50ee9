/**
 * `orch/client`: a typed client of any Kubernetes server. Names of API groups are those of Kubernetes, unless ORCH_DIALECT is `orch`.
 *
 * ```ts
 * const client = connect();                                     // $KUBECONFIG, ~/.kube/config, or a pod's service account
 * await client.apps.v1.deployments('ns').apply({ metadata: { name: 'web' }, spec: { replicas: 2 } }, { fieldManager: 'me' });
 * for await (const change of client.core.v1.pods('ns').informer({ signal })) console.log(change.type, change.object.metadata.name);
 * ```
 */
export type { Connection, ConnectOptions, FetchAccess, TypedClient } from './connect';
export { connect } from './connect';
export type {
  ApplyOptions,
  ResourceClient,
  ResourceDefinition,
  ResumedWatchOptions,
} from './resource-client';
export { defineResource } from './resource-client';
export type { Change, InformerIteration, InformerSelection } from './changes';
export type { ControllerOptions, Reconcile } from './controller';
export { runController } from './controller';
export { applyPatch, jsonPatch, mergePatch, strategicMergePatch, updateWithRetry } from './patches';
export type { LeaderElectionOptions, LeadershipEnd } from '../../shared/client/leader-election';
export { runWithLeadership } from '../../shared/client/leader-election';
export { ConnectionError } from '../../shared/client/connection-error';
export { hasCode, hasReason, isExpired } from '../../shared/client/status';
export { StatusError } from '../../shared/errors/status-error';
export type { WorkQueue, WorkQueueOptions } from '../../shared/concurrency/work-queue';
export { createWorkQueue } from '../../shared/concurrency/work-queue';
export type { Requeue } from '../../shared/concurrency/work-loop';
export type { Store } from '../../shared/informer/store';
export type { ApiObject, ObjectMeta } from '../../shared/object/object';
export type { ApiList, ClientOptions, Patch, WatchEvent } from '../../shared/client/options';
export type { ServedKinds } from '../../shared/api/types/message-types';
