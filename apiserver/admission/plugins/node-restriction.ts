import { notFound } from '../../../shared/errors/status-error';
import { GROUP, NAMESPACE, NODE_USER } from '../../../shared/names';
import type { UserInfo } from '../../exchange/exchange';
import type { AdmissionAttributes } from '../../registry/admission';
import { record, text } from '../../../shared/object/accessors';
import type { ClusterReader } from '../cluster-reader';
import { claimStatusProblem, nodeProblem } from './node-restriction-nodes';
import { mirrorPodCreationProblem, podOnNodeProblem, podStatusProblem } from './node-restriction-pods';
import type { AdmissionPlugin } from '../plugin';
import { refusal } from '../refusal';
import { CLAIMS, NODES, PODS, SERVICE_ACCOUNTS } from './resources';
import { specOf } from './with-spec';

/** Why a node may not do this; undefined where it may. */
type Rule = (node: string, attributes: AdmissionAttributes, cluster: ClusterReader) => string | undefined;

/** By group and resource; what is not named is authorization's business alone. */
const RULES: Readonly<Record<string, Rule>> = {
  [`${GROUP.core}/${PODS.resource}`]: podProblem,
  [`${GROUP.core}/${NODES.resource}`]: nodeProblem,
  [`${GROUP.core}/${CLAIMS.resource}`]: (_node, attributes) => claimStatusProblem(attributes),
  [`${GROUP.core}/${SERVICE_ACCOUNTS.resource}`]: tokenProblem,
  [`${GROUP.coordination}/leases`]: leaseProblem,
  [`${GROUP.storage}/csinodes`]: (node, attributes) =>
    attributes.write.name === node
      ? undefined
      : 'can only access CSINode with the same name as the requesting node',
};

/** The agent of a node changes its own node and the pods that run there, and nothing else of these kinds. */
export const nodeRestriction: AdmissionPlugin = {
  concerns: ({ group, resource, operation }) =>
    operation !== 'CONNECT' && Object.hasOwn(RULES, `${group}/${resource}`),
  mutate(attributes, cluster) {
    const { object } = attributes;
    const { user, endpoint } = attributes.write;
    const node = nodeOf(user);
    if (node === undefined) return object;
    if (node === '') throw refusal(attributes, `could not determine node from user "${user.name}"`);
    const rule = RULES[`${endpoint.row.group}/${endpoint.row.resource}`];
    const problem = rule?.(node, attributes, cluster);
    if (problem !== undefined) throw refusal(attributes, problem);
    return object;
  },
};

/** The node's name; undefined for a user that is no node's agent. */
function nodeOf({ name, groups }: UserInfo): string | undefined {
  if (!name.startsWith(NODE_USER.prefix) || !groups.includes(NODE_USER.group)) return undefined;
  return name.slice(NODE_USER.prefix.length);
}

function podProblem(
  node: string,
  attributes: AdmissionAttributes,
  cluster: ClusterReader,
): string | undefined {
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

/** A node gets tokens for the pods that run on it, each bound to its pod. */
function tokenProblem(
  node: string,
  attributes: AdmissionAttributes,
  cluster: ClusterReader,
): string | undefined {
  const { operation, object } = attributes;
  const { subresource, namespace } = attributes.write;
  if (operation !== 'CREATE' || subresource !== 'token') return undefined;
  const bound = record(specOf(object)['boundObjectRef']);
  const name = text(bound['name']);
  if (bound['apiVersion'] !== 'v1' || bound['kind'] !== 'Pod' || name === '') {
    return 'node requested token not bound to a pod';
  }
  const uid = text(bound['uid']);
  if (uid === '') return 'node requested token with a pod binding without a uid';
  const pod = cluster.get(PODS, name, namespace);
  if (pod === undefined) throw notFound(PODS, name);
  if (pod.metadata.uid !== uid) {
    return `the UID in the bound object reference (${uid}) does not match the UID in record. The object might have been deleted and then recreated`;
  }
  if (text(specOf(pod)['nodeName']) === node) return undefined;
  return 'node requested token bound to a pod scheduled on a different node';
}

function leaseProblem(node: string, { write: { namespace, name } }: AdmissionAttributes): string | undefined {
  if (namespace !== NAMESPACE.nodeLease) {
    return `can only access leases in the "${NAMESPACE.nodeLease}" system namespace`;
  }
  return name === node ? undefined : 'can only access node lease with the same name as the requesting node';
}
