import { GROUP, NAMESPACE } from '../../../../shared/names';
import type { AccessControl, AccessQuestion, AccessResult } from '../../../engine/request/access';
import { nodeOf } from './node-user';
import { CompiledRule, askedBy } from '../rbac/compiled-rule';
import type { PolicyRule } from '../rbac/policy-rule';
import { NO_RULES } from '../../../engine/authz/rules';
import type { NodeFeatures } from './node-features';
import type { NeededKind, NodeGraph } from './node-graph';

const ALLOWED: AccessResult = { decision: 'allow', reason: '' };

/**
 * Creates the node authorizer: kubelets may read the objects that their own pods refer to, renew their own Lease and CSINode, and do what
 * `rules` allows all nodes, which is called for the first node. It has no opinion about other users. A refusal is decided again after the cache
 * was freshened.
 */
export function nodeAccess(
  graph: NodeGraph,
  rules: () => readonly PolicyRule[],
  { volumesGrow }: Pick<NodeFeatures, 'volumesGrow'>,
): AccessControl {
  let compiled: readonly CompiledRule[] | undefined;
  return {
    authorize: async (question, signal) => {
      const { user } = question;
      const node = nodeOf(user);
      if (node === undefined) return noOpinion('');
      if (node === '') return noOpinion(`unknown node for user "${user.name}"`);
      const row = question.isResourceRequest ? rowOf(question) : undefined;
      if (row === undefined) {
        const asked = askedBy(question);
        compiled ??= rules().map((rule) => new CompiledRule(rule));
        return compiled.some((rule) => rule.allows(asked)) ? ALLOWED : noOpinion('');
      }
      const problem =
        row.resource === CLAIMS && !volumesGrow ? getProblem(node, question) : row.problem(node, question);
      if (problem !== undefined) return noOpinion(problem);
      const { kind } = row;
      if (kind === undefined) return ALLOWED;
      await graph.whenReady(signal);
      if (graph.needs(node, kind, question)) return ALLOWED;
      await graph.freshen(signal);
      await graph.whenReady(signal);
      if (graph.needs(node, kind, question)) return ALLOWED;
      return noOpinion(`no relationship found between node '${node}' and this object`);
    },
    rulesOf: async (user) =>
      Promise.resolve(
        nodeOf(user) === undefined
          ? NO_RULES
          : {
              ...NO_RULES,
              incomplete: true,
              evaluationError: 'node authorizer does not support user rule resolution',
            },
      ),
  };
}

function noOpinion(reason: string): AccessResult {
  return { decision: 'no-opinion', reason };
}

interface Row {
  readonly group: string;
  readonly resource: string;
  /** The kind of object that the graph looks up; absent: no lookup. */
  readonly kind?: NeededKind;
  /** Returns why no node may do this; undefined if the graph decides. */
  readonly problem: (node: string, question: AccessQuestion) => string | undefined;
}

const CLAIMS = 'persistentvolumeclaims';

/** The resources for which the answer depends on the node. */
const ROWS: readonly Row[] = [
  { group: GROUP.core, resource: 'secrets', kind: 'secret', problem: readProblem },
  { group: GROUP.core, resource: 'configmaps', kind: 'configmap', problem: readProblem },
  { group: GROUP.core, resource: CLAIMS, kind: 'claim', problem: claimProblem },
  { group: GROUP.core, resource: 'persistentvolumes', kind: 'volume', problem: getProblem },
  { group: GROUP.storage, resource: 'volumeattachments', kind: 'attachment', problem: getProblem },
  { group: GROUP.core, resource: 'serviceaccounts', kind: 'account', problem: tokenProblem },
  { group: GROUP.coordination, resource: 'leases', problem: leaseProblem },
  { group: GROUP.storage, resource: 'csinodes', problem: csiNodeProblem },
];

function rowOf({ apiGroup, resource }: AccessQuestion): Row | undefined {
  return ROWS.find((row) => row.resource === resource && row.group === apiGroup);
}

const NO_NAME = 'No Object name found';

function readProblem(
  _node: string,
  { verb, subresource, namespace, name }: AccessQuestion,
): string | undefined {
  if (!['get', 'list', 'watch'].includes(verb)) return 'can only read resources of this type';
  if (subresource !== '') return 'cannot read subresource';
  if (namespace === '') return 'can only read namespaced object of this type';
  return name === '' ? NO_NAME : undefined;
}

function getProblem(_node: string, { verb, subresource, name }: AccessQuestion): string | undefined {
  if (verb !== 'get') return 'can only get individual resources of this type';
  if (subresource !== '') return 'cannot get subresource';
  return name === '' ? NO_NAME : undefined;
}

function claimProblem(node: string, question: AccessQuestion): string | undefined {
  const { subresource, verb, name } = question;
  if (subresource !== 'status') return getProblem(node, question);
  if (!['update', 'patch'].includes(verb)) return 'can only get/update/patch this type';
  return name === '' ? NO_NAME : undefined;
}

function tokenProblem(_node: string, { verb, subresource, name }: AccessQuestion): string | undefined {
  if (verb !== 'create' || name === '') return 'can only create tokens for individual service accounts';
  return subresource === 'token' ? undefined : 'can only create token subresource of serviceaccount';
}

const OWN_VERBS: readonly string[] = ['get', 'create', 'update', 'patch', 'delete'];

/** The name of a created object is not known yet; the plugin NodeRestriction checks it. */
function isOthers(node: string, { verb, name }: AccessQuestion): boolean {
  return verb !== 'create' && name !== node;
}

function leaseProblem(node: string, question: AccessQuestion): string | undefined {
  if (!OWN_VERBS.includes(question.verb)) {
    return 'can only get, create, update, patch, or delete a node lease';
  }
  if (question.namespace !== NAMESPACE.nodeLease) {
    return `can only access leases in the "${NAMESPACE.nodeLease}" system namespace`;
  }
  return isOthers(node, question)
    ? 'can only access node lease with the same name as the requesting node'
    : undefined;
}

function csiNodeProblem(node: string, question: AccessQuestion): string | undefined {
  if (!OWN_VERBS.includes(question.verb)) return 'can only get, create, update, patch, or delete a CSINode';
  if (question.subresource !== '') return 'cannot authorize CSINode subresources';
  return isOthers(node, question)
    ? 'can only access CSINode with the same name as the requesting node'
    : undefined;
}
