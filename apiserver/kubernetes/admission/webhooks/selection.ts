import { notFound } from '../../../../shared/errors/status-error';
import type { LabelSelector } from '../../../../shared/meta/labels';
import { matchesLabels } from '../../../../shared/meta/labels';
import type { ApiObject } from '../../../../shared/object/object';
import type { AdmissionAttributes } from '../../../engine/registry/admission';
import type { Reading } from '../../cluster/cluster-reader';
import { NAMESPACES } from '../../cluster/resources';
import { namespaceOf } from './rules';
import type { Webhook } from './webhook';

/**
 * Whether the labels of the object, before or after the write, and those of its namespace are such that the webhook wants to see it.
 * Throws NotFound for a namespace that is not there even in a fresh state.
 */
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
  // Whatever belongs to no namespace is always seen, but namespaces themselves.
  if (attributes.write.namespace === '' && row.resource !== NAMESPACES.resource) return true;
  return matchesLabels(namespaceSelector, await namespaceLabels(attributes, cluster, signal));
}

function has(selector: LabelSelector, object: ApiObject | undefined): boolean {
  // The options of a connection have no labels that could be wanted or not.
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
    // What is deleted goes by the labels it has, and so does what is only changed in part.
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
