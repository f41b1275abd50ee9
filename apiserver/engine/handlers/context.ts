import type { WriteContext } from '../registry/write-context';
import type { Registry } from '../registry/registry';
import type { OpenWatches } from '../authz/open-watches';
import type { Connector } from '../proxy/connector';
import type { EncodeElement } from './element-encoder';
import type { OperationServices } from '../registry/operation';
import type { RequestFeatures } from './request-features';

/** What verbs need of the process. */
export interface VerbContext {
  /** The registry of this moment: custom resources change it at run time. */
  readonly registry: () => Registry;
  /**
   * Waits until the registry knows every custom resource that any replica served before this call. Throws ServiceUnavailable (503) when
   * that cannot be known in time.
   */
  readonly confirmRegistry: (signal: AbortSignal) => Promise<void>;
  readonly store: WriteContext;
  readonly features: RequestFeatures;
  /** Makes elements of lists that are too large for the loop that serves everybody; absent: all are made here. */
  readonly encodeElement?: EncodeElement;
  /** What operations ask of authentication, authorization and health. */
  readonly services: OperationServices;
  /** Leads to other servers; absent: nothing does. */
  readonly connector?: Pick<Connector, 'answer'>;
  /** Where watches that begin are known, so that they end when their users lose what let them in. */
  readonly openWatches: Pick<OpenWatches, 'hold'>;
  /** The shortest time a watch lasts unless its client says otherwise, in milliseconds; the longest is just under twice as long. */
  readonly minRequestTimeoutMs: number;
}
