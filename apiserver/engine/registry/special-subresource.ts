import type { Connection } from './connection';
import type { ObjectView } from './object-view';
import type { Operation } from './operation';
import type { KindSettings } from './strategy';

/**
 * A subresource of another kind than its resource: an operation on the object, a view of it, or a way to another server. All others (`status`, `approval`)
 * show the object itself, and a strategy says which part of it they change.
 */
export type SpecialSubresource = (
  | { readonly is: 'operation'; readonly run: Operation }
  | { readonly is: 'view'; readonly view: ObjectView }
  | { readonly is: 'connection'; readonly to: Connection }
) & {
  /** Whether a subresource that can be switched off is served. Default: it is. */
  readonly isServed?: (settings: KindSettings) => boolean;
};
