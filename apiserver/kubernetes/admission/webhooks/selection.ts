import { notFound } from '../../../../shared/errors/status-error';
import type { LabelSelector } from '../../../../shared/meta/labels';
import { matchesLabels } from '../../../../shared/meta/labels';
import type { ApiObject } from '../../../../shared/object/object';
import type { AdmissionAttributes } from '../../../engine/registry/admission';
import type { Reading } from '../../cluster/cluster-reader';
import { NAMESPACES } from '../../cluster/resources';
import { namespaceOf } from './rules';
import type { Webhook } from './webhook';

/** Evaluates object and namespace selectors of a webhook. Throws NotFound for a namespace that is missing even in a fresh read. */
export async function isSelected(
  { objectSelector, namespaceSelector }: Webhook,
  attributes: AdmissionAttributes,
  cluster: Reading,
  signal: AbortSignal,
): Promise<boolean> {
  const { object, oldObject } = attributes;
  if (objectSelector.length > 0 && !has(objectSelector, object) && !has(objectSelector, oldObject))
    return false;
  if (namespaceSelector.length === 0) return true;
  const { row } = attributes.write.endpoint;
  // Cluster-scoped objects always match, except namespaces.
  if (attributes.write.namespace === '' && row.resource !== NAMESPACES.resource) return true;
  return matchesLabels(namespaceSelector, await namespaceLabels(attributes, cluster, signal));
}

function has(selector: LabelSelector, object: ApiObject | undefined): boolean {
  // Options of a connection have no labels.
  return object !== undefined && 'metadata' in object && matchesLabels(selector, object.metadata.labels);
}

type Labels = Readonly<Record<string, string>> | undefined;

async function namespaceLabels(
  attributes: AdmissionAttributes,
  cluster: Reading,
  signal: AbortSignal,
): Promise<Labels> {
  const { object, oldObject } = attributes;
  const { endpoint, subresource } = attributes.write;
  if (endpoint.row.resource === NAMESPACES.resource) {
    // Deletions and subresources use the existing labels.
    const own = subresource === '' ? (object ?? oldObject) : (oldObject ?? object);
    return own?.metadata.labels;
  }
  const name = namespaceOf(attributes);
  const known = cluster.get(NAMESPACES, name);
  if (known !== undefined) return known.metadata.labels;
  await cluster.freshen(signal);
  const found = cluster.get(NAMESPACES, name);
  if (found === undefined) throw notFound(NAMESPACES, name);
  return found.metadata.labels;
}
