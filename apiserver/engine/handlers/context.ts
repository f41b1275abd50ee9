import type { WriteContext } from '../registry/write-context';
import type { Registry } from '../registry/registry';
import type { OpenWatches } from '../authz/open-watches';
import type { Connector } from '../proxy/connector';
import type { EncodeElement } from './element-encoder';
import type { OperationServices } from '../registry/operation';
import type { RequestFeatures } from './request-features';

/** The dependencies of the verbs. */
export interface VerbContext {
  /** The current registry: custom resources change it at run time. */
  readonly registry: () => Registry;
  /**
   * Waits until the registry has every custom resource that any replica served before this call. Throws
   * ServiceUnavailable (503) on timeout.
   */
  readonly confirmRegistry: (signal: AbortSignal) => Promise<void>;
  readonly store: WriteContext;
  readonly features: RequestFeatures;
  /** Encodes large list elements off the event loop; absent: all are encoded here. */
  readonly encodeElement?: EncodeElement;
  readonly services: OperationServices;
  /** Proxies to other servers; absent: proxying is off. */
  readonly connector?: Pick<Connector, 'answer'>;
  /** Registers watches, so that they end when the access of their users is revoked. */
  readonly openWatches: Pick<OpenWatches, 'hold'>;
  /**
   * The minimum duration of a watch without timeoutSeconds, in milliseconds; the maximum is just under twice
   * as long.
   */
  readonly minRequestTimeoutMs: number;
}
