import { deepEqual } from '../../../../../shared/object/clone';
import type { ApiObject, ManagedFieldsEntry } from '../../../../../shared/object/object';
import { applyMergePatch } from '../../../../../shared/patch/merge-patch';
import { decodeObject } from '../../../../../shared/schema/decode';
import type { KindType } from '../../../../../shared/schema/types';
import { applyConfiguration } from '../apply';
import { withOwnersOf } from '../entries';
import type { KindOptions } from '../built-in-kind';
import { managedKind } from '../built-in-kind';
import { trackUpdate } from '../track-update';

/** One object and its owners, without a server around them. Time passes by a second with every write. */
export class ManagedObject {
  readonly #type: KindType;
  readonly #options: Omit<KindOptions, 'subresource'>;
  object: ApiObject | undefined;
  #nowMs = Date.UTC(2021, 3, 8);

  constructor(type: KindType, apiVersion = 'v1', options: Partial<KindOptions> = {}) {
    this.#type = type;
    this.#options = { apiVersion, type, hasStatus: false, ...options };
  }

  apply(manager: string, config: object, options: { force?: boolean; subresource?: string } = {}): ApiObject {
    const { force = false, subresource = '' } = options;
    this.#nowMs += 1000;
    const live = this.object;
    const applied = applyConfiguration({
      kind: managedKind({ ...this.#options, subresource }),
      live,
      config: { metadata: {}, ...config },
      writer: { manager, subresource: '', nowMs: this.#nowMs },
      force,
      read: (merged) => decodeObject(this.#type, merged).object,
    });
    // The registry does not store new times alone.
    const timeless = live && withOwnersOf(live, applied);
    this.object = live !== undefined && deepEqual(timeless, live) ? live : applied;
    return this.object;
  }

  /** A PUT. */
  update(manager: string, next: object, subresource = ''): ApiObject {
    this.#nowMs += 1000;
    const { object } = decodeObject(this.#type, next);
    const kind = managedKind({ ...this.#options, subresource });
    this.object = trackUpdate(kind, this.object, object, { manager, subresource: '', nowMs: this.#nowMs });
    return this.object;
  }

  /** A merge patch. */
  patch(manager: string, patch: object, subresource = ''): ApiObject {
    return this.update(manager, applyMergePatch(this.object ?? {}, patch), subresource);
  }

  /** `Apply one`, `Update two`: what each owns. */
  get owners(): Record<string, unknown> {
    return Object.fromEntries(
      this.entries.map(({ operation = '', manager = '', fieldsV1 }) => [`${operation} ${manager}`, fieldsV1]),
    );
  }

  get entries(): readonly ManagedFieldsEntry[] {
    return this.object?.metadata.managedFields ?? [];
  }

  data(field: string): unknown {
    return this.object?.[field];
  }
}
