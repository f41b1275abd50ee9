import type { UserInfo } from '../request/exchange';
import type { LoopBounds } from '../request/loop-bounds';
import type { DeleteOptions } from './deletion';
import type { Endpoint } from './resource';

/** The target and the user of a write. */
export interface WriteRequest {
  readonly endpoint: Endpoint;
  /** Empty for cluster scope. */
  readonly namespace: string;
  readonly name: string;
  /** The name in the path; a new object has its name in the object alone. Absent if there is no path. */
  readonly nameInPath?: string;
  /** Empty for the object itself. */
  readonly subresource: string;
  readonly user: UserInfo;
  readonly dryRun: boolean;
  /** The manager that owns the changed fields; absent: managedFields do not change. */
  readonly manager?: string;
  /** Size limits for objects on this thread; absent: none. */
  readonly bounds?: LoopBounds | undefined;
  /** Only for deletions. */
  readonly deleteOptions?: DeleteOptions;
  /** Adds a Warning header to the response. */
  readonly warn?: (text: string) => void;
  /** The `fieldManager` parameter of the request; absent if it is not set. */
  readonly fieldManager?: string;
  /** Adds an annotation to the audit event; with `from`, only if the audit level is at least that. */
  readonly annotate?: (key: string, value: string, from?: 'Request') => void;
}
