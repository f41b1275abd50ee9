import { runSteps } from '../../../../shared/concurrency/steps';
import { forbidden, notFound } from '../../../../shared/errors/status-error';
import type { Log } from '../../../../shared/log/log';
import type { LabelSelector } from '../../../../shared/meta/labels';
import { matchesLabels } from '../../../../shared/meta/labels';
import type { ApiObject, ObjectMeta } from '../../../../shared/object/object';
import type { AdmissionAttributes } from '../../../engine/registry/admission';
import type { Reading } from '../../cluster/cluster-reader';
import type { Authorizer } from '../../../engine/request/access';
import type { AccessChecks } from '../expressions/access-checks';
import type { EvaluatedWrite } from '../expressions/evaluator';
import type { ExpressionMetrics } from '../expressions/expression-metrics';
import type { ReviewedObject } from './reviewed-object';
import type { Invocation } from './rules';
import { NAMESPACES } from '../../cluster/resources';
import { namespaceOf } from './reviewed-request';
import type { Webhook } from './webhook';

/** What evaluating the conditions of webhooks needs. */
export interface SelectionParts {
  readonly expressions: ExpressionMetrics;
  readonly authorize: Authorizer;
  readonly log: Log;
}

/** One webhook and the write that it may be called for. */
export interface Candidate {
  readonly invocation: Invocation;
  readonly attributes: AdmissionAttributes;
  readonly object: ReviewedObject | undefined;
  readonly oldObject: ReviewedObject | undefined;
  readonly cluster: Reading;
  readonly shared: EvaluatedWrite;
  /** Answers of the authorizer for conditions. */
  readonly access: AccessChecks;
}

const TYPE_LABELS = { mutating: 'admit', validating: 'validating' } as const;

/**
 * Evaluates the selectors and the conditions of a webhook. Throws NotFound for a namespace that is missing even in a fresh read, and
 * Forbidden if the conditions cannot be evaluated and failures are not ignored.
 */
export async function isCalled(
  { expressions: metrics, log }: SelectionParts,
  candidate: Candidate,
  signal: AbortSignal,
): Promise<boolean> {
  const { invocation, attributes, cluster } = candidate;
  const { hook, endpoint } = invocation;
  if (!(await isSelected(hook, attributes, cluster, signal))) return false;
  if (hook.conditions === undefined) return true;
  const labels = { name: hook.name, kind: 'webhook', type: TYPE_LABELS[hook.type] } as const;
  const matching = hook.conditions.match(
    { ...candidate, endpoint },
    { labels, failsOpen: hook.failsOpen, metrics },
    signal,
  );
  const result = await runSteps(matching);
  if (result.error !== undefined) {
    log.warn(
      { webhook: hook.name, error: result.error },
      'failed to evaluate match conditions; failing closed',
    );
    throw forbidden(attributes.write.endpoint.row, attributes.write.name, result.error);
  }
  if (!result.matches) metrics.excluded({ ...labels, operation: attributes.operation });
  return result.matches;
}

/**
 * Evaluates object and namespace selectors of a webhook or a policy. Returns a promise only for a namespace that is not known yet; it
 * rejects with NotFound for one that is missing even in a fresh read.
 */
export function isSelected(
  { objectSelector, namespaceSelector }: Pick<Webhook, 'objectSelector' | 'namespaceSelector'>,
  attributes: AdmissionAttributes,
  cluster: Reading,
  signal: AbortSignal,
): Promise<boolean> | boolean {
  const { object, oldObject } = attributes;
  if (objectSelector.length > 0 && !has(objectSelector, object) && !has(objectSelector, oldObject))
    return false;
  if (namespaceSelector.length === 0) return true;
  const { row } = attributes.write.endpoint;
  // Cluster-scoped objects always match, except namespaces.
  if (attributes.write.namespace === '' && row.resource !== NAMESPACES.resource) return true;
  const known = namespaceMeta(attributes, cluster);
  if (known !== undefined) return matchesLabels(namespaceSelector, known.labels);
  return freshNamespaceMeta(attributes, cluster, signal).then(({ labels }) =>
    matchesLabels(namespaceSelector, labels),
  );
}

function has(selector: LabelSelector, object: ApiObject | undefined): boolean {
  // Options of a connection have no labels.
  return object !== undefined && 'metadata' in object && matchesLabels(selector, object.metadata.labels);
}

type NamespaceMeta = Pick<ObjectMeta, 'labels'>;

function namespaceMeta(attributes: AdmissionAttributes, cluster: Reading): NamespaceMeta | undefined {
  const { object, oldObject } = attributes;
  const { endpoint, subresource } = attributes.write;
  if (endpoint.row.resource !== NAMESPACES.resource) {
    return cluster.get(NAMESPACES, namespaceOf(attributes))?.metadata;
  }
  // Deletions and subresources use the existing labels.
  const own = subresource === '' ? (object ?? oldObject) : (oldObject ?? object);
  return own?.metadata ?? {};
}

async function freshNamespaceMeta(
  attributes: AdmissionAttributes,
  cluster: Reading,
  signal: AbortSignal,
): Promise<NamespaceMeta> {
  await cluster.freshen(signal);
  const found = namespaceMeta(attributes, cluster);
  if (found === undefined) throw notFound(NAMESPACES, namespaceOf(attributes));
  return found;
}
