import { NAMESPACE } from '../../shared/names';
import { StatusError, forbidden, notFound } from '../../shared/errors/status-error';
import type { ApiObject } from '../../shared/meta/object';
import { isTerminating } from '../registry/metadata';
import type { AdmissionAttributes } from '../registry/admission';

const NAMESPACES = { group: '', resource: 'namespaces' } as const;
const PROTECTED: ReadonlySet<string> = new Set([NAMESPACE.default, NAMESPACE.system, NAMESPACE.public]);

/** How the plugin sees namespaces. The first answer may be stale; the second is not. */
export interface NamespaceReader {
  cached(name: string): ApiObject | undefined;
  fresh(name: string, signal: AbortSignal): Promise<ApiObject | undefined>;
}

/**
 * No new object in a namespace that is missing or terminating, and three namespaces that stay. A namespace that the cache does not
 * have, or shows as terminating, is looked up at a read index before anything is refused: one created through another replica a
 * moment ago can be used at once.
 */
export async function admitNamespaceLifecycle(
  attributes: AdmissionAttributes,
  namespaces: NamespaceReader,
  signal: AbortSignal,
): Promise<void> {
  const { operation, endpoint, namespace, name } = attributes;
  const isNamespace =
    endpoint.row.group === NAMESPACES.group && endpoint.row.resource === NAMESPACES.resource;
  if (isNamespace) {
    if (operation === 'DELETE' && PROTECTED.has(name)) {
      throw forbidden(endpoint.row, name, 'this namespace may not be deleted');
    }
    return;
  }
  if (operation !== 'CREATE' || namespace === '') return;
  if (isUsable(namespaces.cached(namespace))) return;
  const found = await namespaces.fresh(namespace, signal);
  if (found === undefined) throw notFound(NAMESPACES, namespace);
  if (!isUsable(found)) throw beingTerminated(attributes);
}

function isUsable(namespace: ApiObject | undefined): boolean {
  return namespace !== undefined && !isTerminating(namespace.metadata);
}

function beingTerminated({ endpoint, namespace, name }: AdmissionAttributes): StatusError {
  const why = `unable to create new content in namespace ${namespace} because it is being terminated`;
  const { status, message } = forbidden(endpoint.row, name, why);
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
