import type { Connection } from './connection';
import type { ObjectView } from './object-view';
import type { Operation } from './operation';
import type { KindSettings } from './strategy';

/**
 * A subresource of another kind than its resource: an operation on the object, a view of it, or a connection
 * to another server. All other subresources (`status`, `approval`) show the object itself, and the strategy
 * says which part of it they change.
 */
export type SpecialSubresource = (
  | { readonly is: 'operation'; readonly run: Operation }
  | { readonly is: 'view'; readonly view: ObjectView }
  | { readonly is: 'connection'; readonly to: Connection }
) & {
  /** Whether the subresource is served with these settings. Default: it is. */
  readonly isServed?: (settings: KindSettings) => boolean;
};
