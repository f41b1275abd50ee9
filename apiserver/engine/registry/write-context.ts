import type { RandomInt } from '../../../shared/meta/generate-name';
import type { Admission, WriteCheck } from './admission';
import type { Reserved, Reserver } from './reservation';
import type { ReadContext } from './read-context';
import type { KindSettings, WriteInfo } from './strategy';
import { DEFAULT_KIND_SETTINGS } from './strategy';
import type { WriteRequest } from './write-request';

/** What a write needs of the process. */
export interface WriteContext extends ReadContext {
  readonly newUid: () => string;
  readonly randomInt: RandomInt;
  /** Plugins and webhooks. */
  readonly admission: Admission;
  /** Forbids a write that gives away rights which its user does not have. */
  readonly refuseEscalation: WriteCheck;
  /** Forbids a PUT or an apply that would create what its user may not create. */
  readonly requireCreate: WriteCheck;
  /** What kinds may ask for beyond their own key; a kind whose reserver is absent gets nothing. */
  readonly reservers?: ReadonlyMap<Reserved, Reserver>;
  /** Undefined: events stay. */
  readonly eventTtlSeconds: number | undefined;
  /** Off: managedFields are not tracked, and every create and update takes away those that the object has. */
  readonly serverSideApply: boolean;
  /** By default those of kube-apiserver. */
  readonly kindSettings?: KindSettings;
}

/** What the hooks of the kind may know of the request. */
export function writeInfo(context: WriteContext, { endpoint, user, bounds }: WriteRequest): WriteInfo {
  const { clock, kindSettings = DEFAULT_KIND_SETTINGS } = context;
  return { via: endpoint.row, user, nowMs: clock.now(), settings: kindSettings, bounds };
}
