import type { UserInfo } from '../request/exchange';
import type { LoopBounds } from '../request/loop-bounds';
import type { DeleteOptions } from './deletion';
import type { Endpoint } from './resource';

/** What a write is aimed at, and who asks. */
export interface WriteRequest {
  readonly endpoint: Endpoint;
  /** Empty for cluster scope. */
  readonly namespace: string;
  readonly name: string;
  /** The name that the path holds: that of a new object is in the object alone. Absent where there is no path. */
  readonly nameInPath?: string;
  /** Empty for the object itself. */
  readonly subresource: string;
  readonly user: UserInfo;
  readonly dryRun: boolean;
  /** Whose fields in managedFields the change becomes; absent: nobody's, managedFields stay as they are in the object. */
  readonly manager?: string;
  /** How large the object may be to be written in this thread; absent: as large as it is. */
  readonly bounds?: LoopBounds | undefined;
  /** Only of a deletion: what its client asked for. */
  readonly deleteOptions?: DeleteOptions;
  /** Tells the client something in a Warning header. */
  readonly warn?: (text: string) => void;
  /** What the request's `fieldManager` parameter says; absent where it says nothing. */
  readonly fieldManager?: string;
  /** Notes something in the audit event of the request, or only in one of a level from this on. */
  readonly annotate?: (key: string, value: string, from?: 'Request') => void;
}
