import type { TokenRequest } from '../../../../shared/api/types/authentication-v1';
import type { Pod } from '../../../../shared/api/types/core-v1';
import type { ApiObject } from '../../../../shared/object/object';
import { notFound } from '../../../../shared/errors/status-error';
import { NAMESPACE } from '../../../../shared/names';
import { nodeOf } from '../../auth/node/node-user';
import type { AdmissionAttributes } from '../../../engine/registry/admission';
import type { ClusterReader, ResourceName } from '../../cluster/cluster-reader';
import { claimStatusProblem, nodeProblem } from './node-restriction-nodes';
import { mirrorPodCreationProblem, podOnNodeProblem, podStatusProblem } from './node-restriction-pods';
import type { AdmissionPlugin, WriteOf } from '../plugin';
import { isWriteOf } from '../plugin';
import { refusal } from '../refusal';
import { CLAIMS, CSI_NODES, LEASES, NODES, PODS, SERVICE_ACCOUNTS } from '../../cluster/resources';

/** Returns why a node may not do this; undefined if it may. */
type Rule<T extends ApiObject> = (
  node: string,
  attributes: WriteOf<T>,
  cluster: ClusterReader,
) => string | undefined;

interface RuleRow {
  readonly resource: ResourceName;
  /** Also undefined for writes of other resources. */
  readonly problem: Rule<ApiObject>;
}

function row<T extends ApiObject>(resource: ResourceName<T>, rule: Rule<T>): RuleRow {
  const problem: Rule<ApiObject> = (node, attributes, cluster) =>
    isWriteOf(resource, attributes) ? rule(node, attributes, cluster) : undefined;
  return { resource, problem };
}

/** Resources without a row are left to authorization. */
const RULES: readonly RuleRow[] = [
  row(PODS, podProblem),
  row(NODES, nodeProblem),
  row(SERVICE_ACCOUNTS, tokenProblem),
  row(LEASES, leaseProblem),
  row(CSI_NODES, (node, { write }) =>
    write.name === node ? undefined : 'can only access CSINode with the same name as the requesting node',
  ),
];

/** Restricts nodes to their own Node and their own pods, and to the progress of volume expansion of claims. */
export function nodeRestriction(volumesGrow: boolean): AdmissionPlugin {
  const rules = [
    ...RULES,
    row(CLAIMS, (node, attributes) => claimStatusProblem(node, attributes, volumesGrow)),
  ];
  return {
    concerns: ({ operation, ...subject }) =>
      operation !== 'CONNECT' && rules.some(({ resource }) => isSame(resource, subject)),
    mutate(attributes, cluster) {
      const { object } = attributes;
      const { user } = attributes.write;
      const node = nodeOf(user);
      if (node === undefined) return object;
      if (node === '') throw refusal(attributes, `could not determine node from user "${user.name}"`);
      for (const { problem } of rules) {
        const why = problem(node, attributes, cluster);
        if (why !== undefined) throw refusal(attributes, why);
      }
      return object;
    },
  };
}

function isSame(a: ResourceName, b: ResourceName): boolean {
  return a.group === b.group && a.resource === b.resource;
}

function podProblem(node: string, attributes: WriteOf<Pod>, cluster: ClusterReader): string | undefined {
  const { operation, object } = attributes;
  const { subresource } = attributes.write;
  if (subresource === 'status') return podStatusProblem(node, attributes);
  if (subresource === 'eviction') return podOnNodeProblem(node, attributes, { cluster, what: 'evict' });
  if (subresource !== '') {
    return `unexpected pod subresource "${subresource}", only 'status' and 'eviction' are allowed`;
  }
  if (operation === 'CREATE') return object && mirrorPodCreationProblem(node, object, cluster);
  if (operation === 'DELETE') return podOnNodeProblem(node, attributes, { cluster, what: 'delete' });
  return `unexpected operation "${operation}", node "${node}" can only create and delete mirror pods`;
}

/** A node gets tokens only for its own pods, each bound to its pod. */
function tokenProblem(
  node: string,
  attributes: AdmissionAttributes,
  cluster: ClusterReader,
): string | undefined {
  if (!isTokenRequest(attributes)) return undefined;
  const { apiVersion, kind, name = '', uid = '' } = attributes.object?.spec.boundObjectRef ?? {};
  if (apiVersion !== 'v1' || kind !== 'Pod' || name === '') {
    return 'node requested token not bound to a pod';
  }
  if (uid === '') return 'node requested token with a pod binding without a uid';
  const pod = cluster.get(PODS, name, attributes.write.namespace);
  if (pod === undefined) throw notFound(PODS, name);
  if (pod.metadata.uid !== uid) {
    return `the UID in the bound object reference (${uid}) does not match the UID in record. The object might have been deleted and then recreated`;
  }
  if (pod.spec.nodeName === node) return undefined;
  return 'node requested token bound to a pod scheduled on a different node';
}

/** Reports whether a write of a service account is a TokenRequest, which has objects of its own. */
function isTokenRequest(attributes: AdmissionAttributes): attributes is WriteOf<TokenRequest> {
  return attributes.operation === 'CREATE' && attributes.write.subresource === 'token';
}

function leaseProblem(node: string, { write: { namespace, name } }: AdmissionAttributes): string | undefined {
  if (namespace !== NAMESPACE.nodeLease) {
    return `can only access leases in the "${NAMESPACE.nodeLease}" system namespace`;
  }
  return name === node ? undefined : 'can only access node lease with the same name as the requesting node';
}
