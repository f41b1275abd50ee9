import type { StatusError } from '../../../shared/errors/status-error';
import { notFound } from '../../../shared/errors/status-error';
import type { Change } from '../registry/write-attempt';
import type { Target } from './target';

/**
 * The change of a patch that is malformed. Upstream reads the patch after the object, so NotFound comes
 * first.
 */
export function refusalOf({ endpoint, name }: Target, error: StatusError): Change {
  return (current) => {
    throw current === undefined ? notFound(endpoint.row, name) : error;
  };
}
