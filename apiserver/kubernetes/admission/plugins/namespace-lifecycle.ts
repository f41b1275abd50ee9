import { NAMESPACE } from '../../../../shared/names';
import { StatusError, forbidden, notFound } from '../../../../shared/errors/status-error';
import { isTerminating } from '../../../engine/registry/metadata';
import type { AdmissionAttributes } from '../../../engine/registry/admission';
import type { ClusterReader } from '../../cluster/cluster-reader';
import type { AdmissionPlugin } from '../plugin';
import { refusal } from '../refusal';
import { NAMESPACES } from '../../cluster/resources';

const PROTECTED: ReadonlySet<string> = new Set([NAMESPACE.default, NAMESPACE.system, NAMESPACE.public]);

/**
 * Refuses new objects in missing or terminating namespaces, and protects three namespaces. A namespace created through another replica is
 * usable at once, because refusals are decided on fresh objects. A namespace deleted through another replica gets no more objects,
 * because the write is guarded by the namespace's revision (ADR 23).
 */
export const namespaceLifecycle: AdmissionPlugin = {
  concerns: ({ operation, group, resource, namespaced }) =>
    group === NAMESPACES.group && resource === NAMESPACES.resource
      ? operation === 'DELETE'
      : operation === 'CREATE' && namespaced,
  mutate(attributes, cluster) {
    if (attributes.operation === 'DELETE') checkProtected(attributes);
    else checkUsable(attributes, cluster);
    return attributes.object;
  },
};

function checkProtected({ write: { endpoint, name } }: AdmissionAttributes): void {
  if (PROTECTED.has(name)) throw forbidden(endpoint.row, name, 'this namespace may not be deleted');
}

function checkUsable(attributes: AdmissionAttributes, cluster: ClusterReader): void {
  const { relyOn } = attributes;
  const { namespace } = attributes.write;
  if (namespace === '') return;
  const found = cluster.get(NAMESPACES, namespace);
  if (found === undefined) throw notFound(NAMESPACES, namespace);
  if (isTerminating(found.metadata)) throw beingTerminated(attributes);
  relyOn?.(cluster.guardOf(NAMESPACES, found));
}

function beingTerminated(attributes: AdmissionAttributes): StatusError {
  const { namespace } = attributes.write;
  const why = `unable to create new content in namespace ${namespace} because it is being terminated`;
  const { status, message } = refusal(attributes, why);
  return new StatusError('Forbidden', message, {
    details: {
      ...status.details,
      causes: [
        {
          reason: 'NamespaceTerminating',
          message: `namespace ${namespace} is being terminated`,
          field: 'metadata.namespace',
        },
      ],
    },
  });
}
