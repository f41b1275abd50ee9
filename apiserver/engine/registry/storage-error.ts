import { conflict } from '../../../shared/errors/status-error';
import type { StatusError } from '../../../shared/errors/status-error';
import type { WriteContext } from './write-context';
import type { WriteRequest } from './write-request';

/**
 * A uid that the client knows an object by is not that of the object: 409 in the words of v1.21's store, which people search logs for. The
 * key among them is where v1.21 would have stored the object (kubeapiserver/default_storage_factory_builder.go); a dry run leaves out
 * what all keys begin with.
 */
export function uidConflict(
  { prefix }: Pick<WriteContext, 'prefix'>,
  { endpoint, namespace, name, dryRun }: WriteRequest,
  { asked, found = '' }: { readonly asked: string; readonly found: string | undefined },
): StatusError {
  const { group, resource, namespaced, custom, strategy } = endpoint.stored;
  const place = strategy.compat?.keyInErrors ?? (custom === undefined ? resource : `${group}/${resource}`);
  const key = [dryRun ? '' : prefix, place, ...(namespaced ? [namespace] : []), name].join('/');
  const why = `Precondition failed: UID in precondition: ${asked}, UID in object meta: ${found}`;
  return conflict(
    endpoint.row,
    name,
    `StorageError: invalid object, Code: 4, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: ${why}`,
  );
}
