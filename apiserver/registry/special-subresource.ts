import type { ObjectView } from './object-view';
import type { Operation } from './operation';

/**
 * A subresource of another kind than its resource: an operation on the object, or a view of it. All others (`status`, `approval`)
 * show the object itself, and a strategy says which part of it they change.
 */
export type SpecialSubresource =
  { readonly is: 'operation'; readonly run: Operation } | { readonly is: 'view'; readonly view: ObjectView };
