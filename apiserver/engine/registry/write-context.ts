import type { RandomInt } from '../../../shared/meta/generate-name';
import type { Admission, WriteCheck } from './admission';
import type { Reserved, Reserver } from './reservation';
import type { ReadContext } from './read-context';
import type { StoredResource } from './resource';
import type { KindSettings, WriteInfo } from './strategy';
import { DEFAULT_KIND_SETTINGS } from './strategy';
import type { WriteRequest } from './write-request';

/** The dependencies of writes. */
export interface WriteContext extends ReadContext {
  readonly newUid: () => string;
  readonly randomInt: RandomInt;
  /** Plugins and webhooks. */
  readonly admission: Admission;
  /** Forbids privilege escalation: a write must not grant rights that its user does not have. */
  readonly refuseEscalation: WriteCheck;
  /** Forbids a PUT or an apply that would create an object if its user may not create it. */
  readonly requireCreate: WriteCheck;
  /** Reservers by the name that kinds request. */
  readonly reservers?: ReadonlyMap<Reserved, Reserver>;
  /**
   * Selects resources whose writes are acknowledged only once the watch cache has them, so that they apply to every request that begins
   * after the response. Absent: none.
   */
  readonly appliesAtOnce?: (stored: StoredResource) => boolean;
  /** Undefined: events do not expire. */
  readonly eventTtlSeconds: number | undefined;
  /** False: managedFields are not tracked, and every create and update removes them. */
  readonly serverSideApply: boolean;
  /**
   * Whether a manager owns fields separately through each subresource (`scale`, `status`), as since v1.22. False in orch's own
   * dialect, whose specification has no such owners.
   */
  readonly subresourceOwners: boolean;
  /** Default: the settings of kube-apiserver. */
  readonly kindSettings?: KindSettings;
}

/** The request information for hooks of the kind. */
export function writeInfo(context: WriteContext, { endpoint, user, bounds }: WriteRequest): WriteInfo {
  const { clock, kindSettings = DEFAULT_KIND_SETTINGS } = context;
  return { via: endpoint.row, user, nowMs: clock.now(), settings: kindSettings, bounds };
}
