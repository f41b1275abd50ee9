import { policyRules } from '../kubernetes/auth/rbac/policy-rule';
import type { PolicyRule } from '../kubernetes/auth/rbac/policy-rule';
import { abacAccess } from '../kubernetes/auth/abac/abac-access';
import type { RemoteOptions } from '../engine/remote/questions';
import type { RemoteReviewOptions } from '../engine/remote/review-call';
import type { ModeAccess } from './authorization-modes';
import { accessControlOf } from './authorization-modes';
import { nodeAccess } from '../kubernetes/auth/node/node-access';
import type { GraphSources } from '../kubernetes/auth/node/node-graph';
import { NodeGraph } from '../kubernetes/auth/node/node-graph';
import type { Policies } from '../kubernetes/auth/rbac/policies';
import { createAccessReviewCall } from '../engine/authz/webhook/access-review-call';
import { webhookAccess } from '../engine/authz/webhook/webhook-access';
import type { ClusterRole } from '../../shared/api/types/rbac-v1';
import { defined } from '../../shared/defined';
import type { AccessControl } from '../engine/request/access';
import { isOn } from '../kubernetes/kinds/field-gates';
import type { KindSettings } from '../engine/registry/strategy';
import { NODE_ROLE, policyObjects } from '../kubernetes/bootstrap/policy-objects';
import type { ServerOptions } from './options/server-options';

type AuthorizationOptions = Pick<
  ServerOptions,
  'authorizationModes' | 'authorizationPolicies' | 'authorizationWebhook' | 'kindSettings'
>;

/** Builds access control from the roles and bindings. Throws KubeconfigError for an unusable webhook file. */
export function createAuthorization(
  options: AuthorizationOptions,
  remote: RemoteOptions & Pick<RemoteReviewOptions, 'requests'>,
): (policies: Policies, sources: GraphSources) => AccessControl {
  const { authorizationModes: modes, authorizationPolicies, authorizationWebhook, kindSettings } = options;
  const others: ModeAccess = defined({
    ABAC: authorizationPolicies === undefined ? undefined : abacAccess(authorizationPolicies),
    Webhook:
      authorizationWebhook === undefined
        ? undefined
        : webhookAccess({
            ...remote,
            ...authorizationWebhook,
            ask: createAccessReviewCall({ ...authorizationWebhook, requests: remote.requests }),
          }),
  });
  return (policies, sources) => {
    if (!modes.includes('Node')) return accessControlOf(modes, policies, others);
    const Node = createNodeAccess(sources, kindSettings, remote);
    return accessControlOf(modes, policies, { ...others, Node });
  };
}

function createNodeAccess(
  sources: GraphSources,
  settings: KindSettings,
  { log, shutdownSignal }: RemoteOptions,
): AccessControl {
  const graph = new NodeGraph(sources, {
    ephemeralVolumes: isOn(settings, 'GenericEphemeralVolume'),
    nodeConfiguration: isOn(settings, 'DynamicKubeletConfig'),
  });
  // A replica that reads on demand does not maintain the graph, because it does not authorize nodes.
  if (!sources.cache.fillsOnDemand) {
    graph.run(shutdownSignal).catch((error: unknown) => {
      log.error({ error }, 'failed to keep the graph of nodes; it is brought up to date by requests only');
    });
  }
  return nodeAccess(graph, () => rulesOfNodes(settings), {
    volumesGrow: isOn(settings, 'ExpandPersistentVolumes'),
  });
}

/** The rules of all nodes are those of the initial role of nodes; changes of the role do not apply. */
function rulesOfNodes(settings: KindSettings): readonly PolicyRule[] {
  const roles = policyObjects(settings).find(({ resource }) => resource === 'clusterroles')?.objects ?? [];
  const role = roles.find(({ metadata }) => metadata.name === NODE_ROLE) as ClusterRole | undefined;
  if (role === undefined) throw new Error(`there is no role ${NODE_ROLE}`);
  return policyRules(role.rules);
}
