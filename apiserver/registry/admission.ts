import type { ApiObject } from '../../shared/object/object';
import type { UserInfo } from '../exchange/exchange';
import type { Guard } from '../storage/backend';
import type { DeleteOptions } from './deletion';
import type { Endpoint } from './resource';

export type AdmissionOperation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';

/** One write as admission sees it. */
export interface AdmissionAttributes {
  readonly operation: AdmissionOperation;
  readonly endpoint: Endpoint;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  /** The name that the path holds; absent where there is no path. */
  readonly nameInPath?: string;
  /** Absent for a deletion. */
  readonly object: ApiObject | undefined;
  /** Absent for a creation. */
  readonly oldObject: ApiObject | undefined;
  readonly user: UserInfo;
  readonly dryRun: boolean;
  /** Stands for the write in all its attempts, each of which is judged. Absent where there is but one. */
  readonly write?: object;
  /** Only of a deletion: what its client asked for. */
  readonly deleteOptions?: DeleteOptions;
  /** Tells the client something in a Warning header. Absent where nobody listens. */
  readonly warn?: (text: string) => void;
  /** Notes something in the audit event of the request, or only in one of a level from this on. Absent where nobody listens. */
  readonly annotate?: (key: string, value: string, from?: 'Request') => void;
  /** What the request's `fieldManager` parameter says; absent where it says nothing. */
  readonly fieldManager?: string;
  /**
   * Only of an object's creation: lets it be stored only while this other object stays as it was judged. Of several calls for one object
   * the last one counts. Absent where nothing is stored.
   */
  readonly relyOn?: (guard: Guard) => void;
}

/** Runs inside every attempt of a write, so that it always judges the object that will be stored. It refuses by throwing. */
export interface Admission {
  /** May change the object: returns what goes on. For a deletion it returns undefined. */
  mutate(attributes: AdmissionAttributes, signal: AbortSignal): Promise<ApiObject | undefined>;
  validate(attributes: AdmissionAttributes, signal: AbortSignal): Promise<void>;
}
