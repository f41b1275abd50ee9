import type { StatusError } from '../../../shared/errors/status-error';
import { notFound } from '../../../shared/errors/status-error';
import type { Change } from '../registry/write-attempt';
import type { Target } from './target';

/** The change of a patch that cannot be read: as upstream reads it once it has the object, NotFound goes before it. */
export function refusalOf({ endpoint, name }: Target, error: StatusError): Change {
  return (current) => {
    throw current === undefined ? notFound(endpoint.row, name) : error;
  };
}
