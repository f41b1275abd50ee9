import { API_SERVER_MANAGER } from '../../../shared/names';
import { StatusError, conflict } from '../../../shared/errors/status-error';
import type { ApiObject } from '../../../shared/object/object';
import { API_SERVER_USER } from '../../engine/registry/api-server-user';
import type { WriteContext } from '../../engine/registry/write-context';
import type { WriteRequest } from '../../engine/registry/write-request';
import type { Registry } from '../../engine/registry/registry';
import type { Endpoint } from '../../engine/registry/resource';
import { updateObject } from '../../engine/registry/update';
import { DEFINITIONS } from './definition';

/** `status` writes only the status. `cleanup` also writes the finalizers, and may remove the definition. */
export type DefinitionPart = 'status' | 'cleanup';

/** Writes the server's own status and finalizers of definitions. */
export class DefinitionWriter {
  readonly #store: WriteContext;
  readonly #endpoint: Endpoint | undefined;

  constructor(store: WriteContext, builtIn: Registry) {
    this.#store = store;
    this.#endpoint = builtIn.endpoint(DEFINITIONS.group, DEFINITIONS.version, DEFINITIONS.resource);
  }

  get nowMs(): number {
    return this.#store.clock.now();
  }

  /**
   * Writes `next`, which was derived from the definition at the resourceVersion in `next`. Returns false on a conflict or if it is gone.
   * The watch then delivers the new state.
   */
  async write(next: ApiObject, part: DefinitionPart, signal: AbortSignal): Promise<boolean> {
    const endpoint = this.#endpoint;
    if (endpoint === undefined) return false;
    const { name = '', uid, resourceVersion } = next.metadata;
    const request: WriteRequest = {
      endpoint,
      namespace: '',
      name,
      subresource: part,
      user: API_SERVER_USER,
      dryRun: false,
      manager: API_SERVER_MANAGER,
    };
    const change = (current: ApiObject | undefined): ApiObject => {
      if (current?.metadata.uid !== uid || current?.metadata.resourceVersion !== resourceVersion) {
        throw conflict(endpoint.row, name, 'it is not what was decided on any more');
      }
      return next;
    };
    try {
      await updateObject(this.#store, request, { change, options: { creates: 'never' } }, signal);
      return true;
    } catch (error) {
      const reason = error instanceof StatusError ? error.status.reason : undefined;
      if (reason === 'Conflict' || reason === 'NotFound') return false;
      throw error;
    }
  }
}
