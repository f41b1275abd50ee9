import type { StorageErrorCode } from '../../backend';
import type { Revision, WatchOptions } from '../../backend';

/** The messages between the two ends of a remote store. Every call has an id of its own. */

/** The methods of a backend with one response. */
export const CALL_NAMES = [
  'get',
  'list',
  'create',
  'update',
  'delete',
  'currentRevision',
  'compact',
] as const;
export type CallName = (typeof CALL_NAMES)[number];

export type ToStore =
  /** `args` are those of the method, without the signal. */
  | {
      readonly kind: 'call';
      readonly id: number;
      readonly method: CallName;
      readonly args: readonly unknown[];
    }
  /** Batches are sent on request only. */
  | { readonly kind: 'watch'; readonly id: number; readonly options: WatchOptions }
  /** The next batch of a watch. */
  | { readonly kind: 'next'; readonly id: number }
  /** The caller aborted. */
  | { readonly kind: 'abort'; readonly id: number };

export type FromStore =
  | { readonly kind: 'answer'; readonly id: number; readonly value: unknown }
  | { readonly kind: 'batch'; readonly id: number; readonly batch: readonly Revision[] }
  | { readonly kind: 'end'; readonly id: number }
  | { readonly kind: 'error'; readonly id: number; readonly error: RemoteError };

/** A StorageError; without a code it is a defect. */
export interface RemoteError {
  readonly code: StorageErrorCode | undefined;
  readonly message: string;
  readonly compactRevision: number | undefined;
}
